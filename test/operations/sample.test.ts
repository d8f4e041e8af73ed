import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { allScopes } from '../../src/domain/api-key.ts'
import { isIdentifier } from '../../src/domain/identifier.ts'
import type { IncomingRow } from '../../src/domain/ingest.ts'
import { isClosed, type PrivacyRequest, requestStates } from '../../src/domain/privacy-request.ts'
import { runPrivacyRequests } from '../../src/maintenance/privacy-requests.ts'
import { authenticateKey } from '../../src/operations/api-key.ts'
import { certifyRequest } from '../../src/operations/certify-privacy-request.ts'
import { createSample, sampleVisits } from '../../src/operations/sample.ts'
import { always } from '../support/rows.ts'
import { noon, openDeps } from './fixture.ts'

const { deps } = openDeps()
const day = 86_400_000
const rows = [...sampleVisits('shop', noon)]

/** Compares row by row, because printing the difference of two long lists takes minutes. */
function assertSameRows(actual: readonly IncomingRow[], expected: readonly IncomingRow[]): void {
  for (const [i, row] of actual.entries()) assert.deepEqual(row, expected[i], `row ${i}`)
  assert.equal(actual.length, expected.length)
}

describe('the sample visits', () => {
  it('have about 1,000 subjects and a few thousand events', () => {
    const subjects = new Set(rows.map((row) => row.subjectId))
    assert.ok(subjects.size >= 950 && subjects.size <= 1_050, `${subjects.size} subjects`)
    const events = rows.filter((row) => row.type === 'event').length
    assert.ok(events > 3_000 && events < 20_000, `${events} events`)
  })

  it('are within the last 150 days', () => {
    for (const row of rows) {
      const [from, to] =
        row.type === 'event' ? [row.occurredAt, row.occurredAt] : [row.startedAt, row.endedAt]
      assert.ok(from >= noon - 150 * day && from <= to && to < noon, JSON.stringify(row))
      assert.ok(Number.isInteger(from) && Number.isInteger(to))
    }
  })

  it('are always the same', () => {
    assertSameRows([...sampleVisits('shop', noon)], rows)
  })

  it('move with the clock, and are otherwise the same', () => {
    const later = [...sampleVisits('shop', noon + 30 * day)]
    const shifted = rows.map((row) =>
      row.type === 'event'
        ? { ...row, occurredAt: row.occurredAt + 30 * day }
        : { ...row, startedAt: row.startedAt + 30 * day, endedAt: row.endedAt + 30 * day },
    )
    assertSameRows(later, shifted)
  })

  it('have valid IDs, unique event IDs, and events within their session', () => {
    const sessions = new Map(
      rows.filter((row) => row.type === 'session').map((row) => [row.sessionId, row] as const),
    )
    const eventIds = new Set<string>()
    for (const row of rows) {
      assert.equal(row.trackerId, 'shop')
      assert.ok(isIdentifier(row.subjectId) && isIdentifier(row.sessionId))
      if (row.type === 'session') continue
      assert.ok(!eventIds.has(row.eventId), row.eventId)
      eventIds.add(row.eventId)
      const session = sessions.get(row.sessionId)
      assert.equal(session?.subjectId, row.subjectId)
      assert.ok(session && session.startedAt <= row.occurredAt && row.occurredAt <= session.endedAt)
    }
  })
})

describe('the sample', () => {
  let sample: Awaited<ReturnType<typeof createSample>>
  const view = { organisationId: 'sample', since: always }
  before(async () => {
    sample = await createSample(deps())
  })

  async function requests(): Promise<PrivacyRequest[]> {
    const query = { limit: 50, after: null, state: null, kind: null, dueBefore: null }
    return (await deps().privacyRequests.list('sample', query)).rows
  }

  async function trackersOf(email: string): Promise<string[]> {
    const sought = { identifier: { name: 'email', value: email } }
    const { rows } = await deps().search.subjects(view, { sought, limit: 9, after: null })
    return rows.map(({ trackerId }) => trackerId).sort()
  }

  it('has a working key, an interesting subject, and a person on two trackers', async () => {
    const { organisationId, trackerId, subjectId, issued } = sample
    const caller = await authenticateKey(deps(), issued.keyString)
    assert.equal(caller?.key.organisationId, organisationId)
    assert.deepEqual(caller?.key.scopes, allScopes())
    const record = await deps().subjects.read({ organisationId, trackerId, since: always }, subjectId)
    assert.deepEqual(await trackersOf('ada@example.com'), ['sample-blog', trackerId, trackerId])
    assert.ok(record && record.counts.events > 3 && record.lastSeenAt > noon - 7 * day)
  })

  const erased = { erased: 3, left: 0, entries: ['erasure', 'erasure', 'erasure'] }
  const expected: [reference: string, state: string, fields?: object][] = [
    ['Ticket 1003', 'done', { ...erased, isLate: true }],
    ['Ticket 1010', 'open', { dueInDays: 41 }],
    ['Ticket 1018', 'open', { dueInDays: -4, isAssigned: true }],
    ['Ticket 1024', 'open', { dueInDays: 5, isAssigned: true }],
    ['Ticket 1027', 'rejected'],
    ['Ticket 1030', 'done', { left: 0, entries: ['nothing-held'] }],
    ['Ticket 1033', 'done'],
    ['Ticket 1036', 'done', erased],
    ['Ticket 1038', 'cancelled'],
    ['Ticket 1042', 'open', { dueInDays: 29 }],
    ['Ticket 1043', 'open', { dueInDays: 29 }],
    ['Ticket 1044', 'open', { dueInDays: 29 }],
    ['Ticket 1045', 'running', { dueInDays: 30, resumesInMinutes: 60 }],
  ]
  it('has requests in every state, with the receipts of the erasures', async () => {
    const rows = await requests()
    const byReference = rows.toSorted((a, b) => ((a.reference ?? '') < (b.reference ?? '') ? -1 : 1))
    const found = await Promise.all(
      byReference.map(async (request) => {
        const entries: string[] = []
        const signal = new AbortController().signal
        await certifyRequest(deps(), request, async ({ kind }) => void entries.push(kind), signal)
        const { reference, state, person, closedAt, dueAt, erased, left, assigneeId, resumesAt } = request
        const isEnded = isClosed(request)
        assert.equal(person === null, isEnded)
        assert.equal(closedAt, isEnded ? noon : null)
        const isAssigned = assigneeId === sample.invited.member.id
        const dueInDays = isEnded ? null : (dueAt - noon) / day
        const resumesInMinutes = resumesAt === null ? null : (resumesAt - noon) / 60_000
        return [
          reference,
          state,
          {
            dueInDays,
            isLate: closedAt !== null && closedAt > dueAt,
            erased: erased.subjects,
            left,
            entries,
            isAssigned,
            resumesInMinutes,
          },
        ]
      }),
    )
    const nothingErased = { isLate: false, erased: 0, left: null, entries: [] }
    const usual = { ...nothingErased, dueInDays: null, isAssigned: false, resumesInMinutes: null }
    const states = new Set(rows.map(({ state }) => state))
    assert.deepEqual([...states].sort(), [...requestStates].sort())
    assert.deepEqual(
      found,
      expected.map(([reference, state, fields]) => [reference, state, { ...usual, ...fields }]),
    )
  })

  it('has no data of people whose requests were erased, and all data of the others', async () => {
    for (const name of ['nuno', 'jonas', 'viktor'])
      assert.deepEqual(await trackersOf(`${name}@example.com`), [])
    for (const name of ['bela', 'carlos', 'goran', 'hanna', 'karim', 'lena', 'marie', 'paul'])
      assert.equal((await trackersOf(`${name}@example.com`)).length, 3, name)
  })

  it('has a request that waits for the budget of its key, which the service completes an hour later', async () => {
    const later = { ...deps(), clock: () => noon + 3_600_000 }
    const countErasure = () => ({ granted: true, resetsAt: later.clock(), countedAt: later.clock() })
    const limits = { paceMs: 1, budgetWindowMs: 3_600_000, countErasure }
    const ended = await new Promise<PrivacyRequest>((onFinished, onError) => {
      const loop = runPrivacyRequests(later, limits, {
        onError,
        onFinished: (request) => void loop.stop().then(() => onFinished(request), onError),
      })
    })
    const { reference, state, erased, left } = ended
    assert.deepEqual([reference, state, erased.subjects, left], ['Ticket 1045', 'done', 3, 0])
    assert.deepEqual(await trackersOf('paul@example.com'), [])
    const keys = await deps().apiKeys.list('sample')
    assert.deepEqual(
      keys.filter(({ lastUsedAt }) => lastUsedAt !== null).map(({ id }) => id),
      [ended.startedBy?.kind === 'key' && ended.startedBy.id],
    )
  })
})
