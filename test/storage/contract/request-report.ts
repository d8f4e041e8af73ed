import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ReceivedPosition, ReportedRequest } from '../../../src/domain/request-report.ts'
import { storeRequest } from '../../support/privacy-request.ts'
import { at } from '../../support/rows.ts'
import { deleteOrganisation } from './deletion.ts'
import { type Fixture, walk } from './fixture.ts'

const start = at('2001-03-01T00:00:00.000Z')
/** A time before any other request is due. */
const long = at('1999-03-01T00:00:00.000Z')

export function requestReportContract(fixture: Fixture): void {
  const received = (organisationId: string, from: number, to: number, limit = 3) =>
    walk<ReportedRequest, ReceivedPosition>((after) =>
      fixture.store.requestReports.received(organisationId, { from, to, after, limit }),
    )

  describe('the requests of a report', () => {
    it('are those received in a range, in order, page by page, in their current state', async () => {
      const [own, other] = [await fixture.createOrganisation(), await fixture.createOrganisation()]
      const expected: ReportedRequest[] = []
      for (let i = 0; i < 12; i++) {
        const kind = i % 3 === 0 ? ('access' as const) : ('erasure' as const)
        const request = { id: `r${(i * 5) % 12}`, kind, receivedAt: start + ((i * 5) % 4), dueAt: start + i }
        const closed = i % 2 === 0 ? (['done', start + 5 + i] as const) : null
        await storeRequest(fixture.store, own, { ...request, ...(closed && { closed: [...closed] }) })
        expected.push({ ...request, state: closed ? 'done' : 'open', closedAt: closed?.[1] ?? null })
      }
      await storeRequest(fixture.store, other, { receivedAt: start + 1 })
      expected.sort((a, b) => a.receivedAt - b.receivedAt || (a.id < b.id ? -1 : 1))
      const between = (from: number, to: number) =>
        expected.filter(({ receivedAt }) => receivedAt >= from && receivedAt < to)
      assert.deepEqual(await received(own, start, start + 4), expected)
      assert.deepEqual(await received(own, start + 1, start + 3), between(start + 1, start + 3))
      assert.deepEqual(await received(own, start + 1, start + 1), [])
      assert.equal((await received(other, start, start + 9)).length, 1)
      assert.deepEqual(await received('nobody', start, start + 9), [])
    })
  })

  describe('the number of due requests', () => {
    const count = () => fixture.store.requestReports.countDue(long, long + 7)

    it('counts the open ones of all organisations, except deleted ones', async () => {
      const organisations = [await fixture.createOrganisation(), await fixture.createOrganisation()]
      const [one = '', two = ''] = organisations
      const store = (organisationId: string, dueAt: number, isClosed = false) =>
        storeRequest(fixture.store, organisationId, {
          ...{ receivedAt: long - 30, dueAt: long + dueAt },
          ...(isClosed && { closed: ['rejected', long] }),
        })
      assert.deepEqual(await count(), { overdue: 0, soon: 0 })
      for (const dueAt of [-1, 0, 6, 7]) await store(one, dueAt)
      for (const dueAt of [-1, 6]) await store(one, dueAt, true)
      for (const dueAt of [-20, -10, 3]) await store(two, dueAt)
      assert.deepEqual(await count(), { overdue: 3, soon: 3 })
      for (const each of organisations) await deleteOrganisation(fixture, each)
      assert.deepEqual(await count(), { overdue: 0, soon: 0 })
    })
  })
}
