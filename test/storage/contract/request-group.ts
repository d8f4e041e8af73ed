import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ActivityKind } from '../../../src/domain/activity.ts'
import type {
  NewPrivacyRequest,
  PrivacyRequestQuery,
  PrivacyRequestRef,
} from '../../../src/domain/privacy-request.ts'
import { at } from '../../support/rows.ts'
import { type Fixture, walk } from './fixture.ts'

const start = at('2026-11-01T10:00:00.000Z')
const actor = { kind: 'member', id: 'mem_1', name: 'ada@acme.example' } as const
const found = { subjects: 1, sessions: 2, events: 3 }
const person = { identifiers: [], subjects: [{ trackerId: 'shop', subjectId: 'ada' }] }
const pending: Omit<PrivacyRequestQuery, 'after'> = {
  ...{ limit: 2, state: 'pending', kind: null, dueBefore: null, isGrouped: true },
}

export function requestGroupContract(fixture: Fixture): void {
  const groups = () => fixture.store.requestGroups
  const requests = () => fixture.store.privacyRequests
  const note = (organisationId: string, kind: ActivityKind) => ({
    ...{ id: fixture.fresh('entry'), organisationId, at: start, actor, kind, target: null, requestId: null },
  })
  const creation = (organisationId: string, fields: Partial<NewPrivacyRequest> = {}) => ({
    request: {
      ...({ id: fixture.fresh('request'), organisationId, kind: 'erasure', reference: 'List' } as const),
      ...{ person, found },
      ...{ receivedAt: start, dueAt: start + 30, contentDigest: 'of it', createdAt: start, createdBy: actor },
      ...fields,
    },
    digests: [],
    note: note(organisationId, 'request.created'),
  })
  /** Stores requests in one transaction and returns them. */
  async function create(organisationId: string, ...fields: Partial<NewPrivacyRequest>[]) {
    const creations = fields.map((each) => creation(organisationId, each))
    assert.equal(await groups().create(organisationId, creations), true)
    return creations.map(({ request: { id } }) => ({ organisationId, id }))
  }
  const begin = (refs: readonly PrivacyRequestRef[]) =>
    groups().start(
      refs.map((ref) => ({
        ref,
        starter: { startedBy: actor, requestId: 'req-1', found },
        note: note(ref.organisationId, 'request.started'),
      })),
    )
  const cancel = (refs: readonly PrivacyRequestRef[]) =>
    groups().close(
      refs.map((ref) => ({ ref, note: note(ref.organisationId, 'request.cancelled') })),
      { from: ['open', 'running'], to: 'cancelled', now: start + 5, rejectionReason: null },
    )
  const kinds = async (organisationId: string) => {
    const { rows } = await fixture.store.activity.list(organisationId, {
      ...{ limit: 100, after: null, requestId: null },
    })
    return rows.map(({ kind }) => kind).sort()
  }

  describe('requests with one reference', () => {
    it('are created, started and closed together, each once and with its note', async () => {
      const organisationId = await fixture.createOrganisation()
      const refs = await create(organisationId, {}, { listLine: 3 }, { kind: 'access' })
      const [first, second, third] = refs
      assert.ok(first && second && third)
      assert.equal((await requests().find(second))?.listLine, 3)
      assert.equal(await groups().create(organisationId, [creation(organisationId, { id: first.id })]), true)
      assert.deepEqual([(await begin([first, second])).started, (await begin([second])).started], [2, 0])
      assert.partialDeepStrictEqual(await requests().find(second), {
        ...{ state: 'running', startedBy: actor, requestId: 'req-1' },
      })
      const known = await groups().known(organisationId, [first.id, third.id, 'nothing'])
      assert.deepEqual(Object.fromEntries(known), {
        [first.id]: { state: 'running', subjects: 1, person },
        [third.id]: { state: 'open', subjects: 1, person },
      })
      const running = await groups().find(organisationId, 'List')
      assert.deepEqual(running, {
        reference: 'List',
        counts: { open: 1, running: 2, done: 0, rejected: 0, cancelled: 0 },
        ...{
          startable: 0,
          waiting: 0,
          ownWaiting: 0,
          access: 1,
          found: { subjects: 3, sessions: 6, events: 9 },
        },
        erased: { subjects: 0, sessions: 0, events: 0 },
        ...{ firstReceivedAt: start, closedAt: null, resumesAt: null },
      })
      assert.deepEqual([await cancel(refs), await cancel(refs)], [3, 0])
      assert.partialDeepStrictEqual(await groups().find(organisationId, 'List'), {
        ...{ counts: { open: 0, running: 0, cancelled: 3 }, closedAt: start + 5 },
      })
      assert.equal((await requests().find(first))?.person, null)
      assert.deepEqual(await kinds(organisationId), [
        ...['request.cancelled', 'request.cancelled', 'request.cancelled'],
        ...['request.created', 'request.created', 'request.created'],
        ...['request.started', 'request.started'],
      ])
    })

    it('are visible only to their organisation, which must exist', async () => {
      const [one, other] = [await fixture.createOrganisation(), await fixture.createOrganisation()]
      const [ref] = await create(one, {})
      assert.ok(ref)
      assert.equal(await groups().find(other, 'List'), null)
      assert.equal((await groups().known(other, [ref.id])).size, 0)
      assert.deepEqual(await groups().sizes(other, 'List', ['open']), { access: 0, erasure: 0 })
      assert.equal((await begin([{ ...ref, organisationId: other }])).started, 0)
      const missing = fixture.fresh('nobody')
      assert.equal(await groups().create(missing, [creation(missing)]), false)
    })

    const storedAs = {
      'stored together': create,
      'of a list': (organisationId: string, ...fields: Partial<NewPrivacyRequest>[]) =>
        create(
          organisationId,
          ...fields.map((each, i) => ({ ...each, listLine: each.reference === 'List' ? i + 1 : 0 })),
        ),
      async 'stored one by one'(organisationId: string, ...fields: Partial<NewPrivacyRequest>[]) {
        const refs: PrivacyRequestRef[] = []
        for (const each of fields) refs.push(...(await create(organisationId, each)))
        return refs
      },
    }
    for (const [how, store] of Object.entries(storedAs)) {
      it(`are one row among others, on every page and with every filter, and are counted: ${how}`, async () => {
        const organisationId = await fixture.createOrganisation()
        const due = (offset: number, fields: Partial<NewPrivacyRequest> = {}) => ({
          ...{ dueAt: start + offset, reference: 'List', ...fields },
        })
        const [, , first, running, , , alone, access] = await store(
          organisationId,
          ...[due(9), due(9), due(2), due(9), due(4, { reference: null }), due(5, { reference: null })],
          ...[due(3, { reference: 'Alone' }), due(1, { kind: 'access' })],
        )
        assert.ok(first && running && alone && access)
        await begin([running])
        const listed = async (fields: Partial<PrivacyRequestQuery> = {}) =>
          (
            await walk((after: PrivacyRequestQuery['after']) =>
              requests().list(organisationId, { ...pending, ...fields, after }),
            )
          ).map(({ id, reference, dueAt }) => [dueAt - start, id === first.id ? 'first' : reference])
        const singles = [
          ...[
            [4, null],
            [5, null],
          ],
        ]
        assert.deepEqual(await listed(), [[1, 'List'], [2, 'first'], [3, 'Alone'], ...singles])
        assert.deepEqual(await listed({ kind: 'erasure' }), [[2, 'first'], [3, 'Alone'], ...singles])
        assert.deepEqual(await listed({ state: 'running' }), [[9, 'List']])
        assert.deepEqual(await listed({ dueBefore: start + 3 }), [
          [1, 'List'],
          [2, 'first'],
        ])
        assert.deepEqual(await listed({ isLatestFirst: true, kind: 'erasure' }), [
          [9, 'List'],
          ...singles.toReversed(),
          [3, 'Alone'],
        ])
        const sizes = await groups().sizes(organisationId, 'List', ['open', 'running'])
        assert.deepEqual(sizes, { access: 1, erasure: 4 })
        assert.deepEqual(await groups().sizes(organisationId, 'List', ['running']), { access: 0, erasure: 1 })
        const own = await walk((after: PrivacyRequestQuery['after']) =>
          requests().list(organisationId, { ...pending, reference: 'List', isGrouped: false, after }),
        )
        assert.deepEqual(
          own.map(({ dueAt }) => dueAt - start),
          [1, 2, 9, 9, 9],
        )
      })
    }

    it('are one row if some are running, even if the first was created alone', async () => {
      const organisationId = await fixture.createOrganisation()
      const [first] = await create(organisationId, { dueAt: start + 1 })
      const [later] = await create(organisationId, { dueAt: start + 5 })
      assert.ok(first && later)
      await begin([later])
      const listed = await walk((after: PrivacyRequestQuery['after']) =>
        requests().list(organisationId, { ...pending, limit: 1, after }),
      )
      assert.deepEqual(
        listed.map(({ id }) => id),
        [first.id],
      )
    })

    it('run line by line, after requests without a list', async () => {
      const organisationId = await fixture.createOrganisation()
      const refs = await create(organisationId, { listLine: 2 }, { listLine: 1 }, {}, { listLine: 2 })
      await begin(refs)
      const [second, first, single] = refs.map(({ id }) => id)
      const served: string[] = []
      for (;;) {
        const lease = { now: 5, until: 10, restsUntil: start + 9_000, after: '' }
        const leased = await requests().lease('one', lease)
        if (!leased) break
        if (leased.organisationId === organisationId) served.push(leased.id)
      }
      assert.deepEqual(served.slice(0, 2), [single, first])
      assert.ok(served.length === 4 && served.slice(2).includes(second ?? ''))
    })
  })
}
