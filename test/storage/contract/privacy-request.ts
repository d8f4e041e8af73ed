import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ActivityKind, ActivityNote } from '../../../src/domain/activity.ts'
import { formatRecord } from '../../../src/domain/ledger-record.ts'
import { maxPageBytes } from '../../../src/domain/page.ts'
import {
  type NewPrivacyRequest,
  NotWaiting,
  type PrivacyRequest,
  type PrivacyRequestPosition,
  type PrivacyRequestQuery,
  type PrivacyRequestRef,
  type RequestClosing,
  type RequestEnd,
  type RequestSubject,
} from '../../../src/domain/privacy-request.ts'
import type { RequestStart } from '../../../src/domain/request-group.ts'
import type { TrackerView } from '../../../src/domain/tracker.ts'
import { at, eventRow } from '../../support/rows.ts'
import { eraseIn, testKeyring, testMark } from '../../support/test-keyring.ts'
import { keeping, rememberWindows, stepBefore } from '../../support/windows.ts'
import { type Fixture, walk } from './fixture.ts'

const start = at('2026-11-01T10:00:00.000Z')
const dayMs = 86_400_000
const actor = { kind: 'member', id: 'mem_1', name: 'ada@acme.example' } as const
const nothing = { subjects: 0, sessions: 0, events: 0 }
const cancel: RequestClosing = {
  ...{ from: ['open', 'running'], to: 'cancelled', now: start + 5, rejectionReason: null },
}
const person = {
  identifiers: [{ name: 'email', value: 'ada@example.com' }],
  subjects: [{ trackerId: 'shop', subjectId: 'ada' }],
}
const everything: Omit<PrivacyRequestQuery, 'after'> = { limit: 3, state: null, kind: null, dueBefore: null }

export function privacyRequestContract(fixture: Fixture): void {
  const requests = () => fixture.store.privacyRequests

  function note(organisationId: string, kind: ActivityKind): ActivityNote {
    return {
      id: fixture.fresh('entry'),
      organisationId,
      at: start,
      actor,
      kind,
      target: null,
      requestId: null,
    }
  }

  function newRequest(organisationId: string, fields: Partial<NewPrivacyRequest> = {}): NewPrivacyRequest {
    const found = { subjects: 1, sessions: 2, events: 3 }
    return {
      ...{
        id: fixture.fresh('request'),
        organisationId,
        kind: 'erasure',
        reference: 'Ticket 7',
        person,
        found,
      },
      ...{ receivedAt: start, dueAt: start + 30, contentDigest: 'of it', createdAt: start, createdBy: actor },
      ...fields,
    }
  }

  async function create(
    organisationId: string,
    fields: Partial<NewPrivacyRequest> = {},
    digests: readonly Uint8Array[] = [],
  ): Promise<NewPrivacyRequest> {
    const request = newRequest(organisationId, fields)
    assert.equal(
      await requests().create(request, digests, note(organisationId, 'request.created')),
      'created',
    )
    return request
  }

  async function found(ref: PrivacyRequestRef): Promise<PrivacyRequest> {
    const request = await requests().find({ organisationId: ref.organisationId, id: ref.id })
    assert.ok(request)
    return request
  }

  /** Leases requests until this one is leased, and releases the others, which are not leased again. */
  async function lease(
    ref: PrivacyRequestRef,
    leaseOwner: string,
    now = start,
    until = start + 10,
  ): Promise<boolean> {
    for (;;) {
      const leased = await requests().lease(leaseOwner, { now, until, restsUntil: start + 1_000, after: '' })
      if (leased === null || leased.id === ref.id) return leased !== null
      await requests().release(leaseOwner, leased, { runsAt: now + 1, isBudgetSpent: false })
    }
  }

  async function begin(
    { organisationId, id }: PrivacyRequestRef,
    starter: RequestStart['starter'],
  ): Promise<boolean> {
    const started = note(organisationId, 'request.started')
    const one = [{ ref: { organisationId, id }, starter, note: started }]
    return (await fixture.store.requestGroups.start(one)).started === 1
  }

  /** Creates a running request with two subjects of a tracker, each with one event, leased to `one`. */
  async function run(tracker: TrackerView, subjectIds = ['anna', 'bert']): Promise<NewPrivacyRequest> {
    const { trackerId, organisationId } = tracker
    await fixture.ingest(
      ['anna', 'bert'].map((subjectId) => eventRow({ trackerId, subjectId, eventId: 'e' })),
    )
    const request = await create(organisationId)
    const starter = { startedBy: actor, requestId: 'req-1', found: nothing }
    assert.equal(await begin(request, starter), true)
    assert.equal(await lease(request, 'one'), true)
    assert.equal(await add(request, tracker, subjectIds), true)
    return request
  }

  function add(
    ref: PrivacyRequestRef,
    { trackerId }: TrackerView,
    subjectIds: readonly string[],
    { searches = 0, leaseOwner = 'one', isHeld = true } = {},
  ): Promise<boolean> {
    const subjects: RequestSubject[] = subjectIds.map((subjectId) => ({ trackerId, subjectId, isHeld }))
    const sum = { subjects: 2, sessions: 2, events: 2 }
    const search = { subjects, found: sum, heldIdentifiers: [0], now: start + 1, isComplete: true }
    return requests().addSubjects(leaseOwner, ref, searches, search)
  }

  const outcomes = async (ref: PrivacyRequestRef) =>
    (await requests().items(ref, -1, 100)).map(({ outcome }) => outcome)
  /** Returns how many entries were appended to the ledger, or `null` if the request was not finished. */
  const finish = async (ref: PrivacyRequestRef, end: Partial<RequestEnd> = {}) => {
    const ended = await requests().finish(
      ref,
      {
        ...{ lease: { leaseOwner: 'one', searches: 1 }, now: start + 7 },
        ...{ found: null, left: 0, nothingHeld: [] },
        ...{ guard: { headKeys: testKeyring.headKeys, minEntries: 0 }, ...end },
      },
      note(ref.organisationId, 'request.finished'),
    )
    return ended?.length ?? null
  }
  const kindsOf = async (organisationId: string) => {
    const query = { limit: 20, after: null, requestId: null }
    return (await fixture.store.activity.list(organisationId, query)).rows.map(({ kind }) => kind)
  }

  describe('a privacy request', () => {
    it('is visible only to its organisation, as created, with its note', async () => {
      const organisationId = await fixture.createOrganisation()
      const stranger = await fixture.createOrganisation()
      const request = await create(organisationId)
      const nothingYet = {
        ...{ state: 'open', extendedAt: null, extensionReason: null, closedAt: null, rejectionReason: null },
        ...{ startedBy: null, requestId: null, erased: nothing, searchedAt: null, searches: 0 },
        ...{ heldIdentifiers: [], namesIdentifiers: true },
        ...{ left: null, resumesAt: null, assigneeId: null, approval: null, listLine: 0 },
      }
      const expected = { ...request, ...nothingYet }
      assert.deepEqual(await found(request), expected)
      const list = (of: string) => requests().list(of, { ...everything, after: null })
      assert.deepEqual((await list(organisationId)).rows, [expected])
      assert.equal(await requests().find({ organisationId: stranger, id: request.id }), null)
      assert.deepEqual((await list(stranger)).rows, [])
      assert.deepEqual(await kindsOf(organisationId), ['request.created'])
    })

    it('has an ID that another organisation may use too', async () => {
      const [own, other] = [await fixture.createOrganisation(), await fixture.createOrganisation()]
      const { id } = await create(own)
      const again = await requests().create(newRequest(own, { id }), [], note(own, 'request.created'))
      assert.equal(again, 'taken')
      await create(other, { id, reference: null })
      await requests().close({ organisationId: own, id }, cancel, note(own, 'request.cancelled'))
      assert.equal((await found({ organisationId: other, id })).state, 'open')
      assert.deepEqual(await kindsOf(own), ['request.cancelled', 'request.created'])
    })

    it('is not stored for an unknown organisation', async () => {
      const created = note('nobody', 'request.created')
      assert.equal(await requests().create(newRequest('nobody'), [], created), 'absent')
    })

    it('is listed soonest due first, page by page, with every filter', async () => {
      const organisationId = await fixture.createOrganisation()
      const all: NewPrivacyRequest[] = []
      for (let i = 0; i < 12; i++) {
        const fields = { kind: i % 3 === 0 ? 'access' : 'erasure', dueAt: start + ((i * 5) % 7) } as const
        all.push(await create(organisationId, fields))
      }
      const closed = all.filter((_, i) => i % 4 === 0)
      for (const each of closed)
        await requests().close(each, cancel, note(organisationId, 'request.cancelled'))
      const ids = new Set(closed.map(({ id }) => id))
      all.sort((a, b) => a.dueAt - b.dueAt || (a.id < b.id ? -1 : 1))
      for (const state of [null, 'pending', 'open', 'cancelled', 'done'] as const) {
        for (const kind of [null, 'access', 'erasure'] as const) {
          for (const dueBefore of [null, start, start + 4]) {
            const expected = all.filter(
              (each) =>
                (state === null ||
                  (ids.has(each.id) ? state === 'cancelled' : state === 'open' || state === 'pending')) &&
                (kind === null || kind === each.kind) &&
                (dueBefore === null || each.dueAt < dueBefore),
            )
            const query = { ...everything, state, kind, dueBefore }
            const listed = await walk<PrivacyRequest, PrivacyRequestPosition>((after) =>
              requests().list(organisationId, { ...query, after }),
            )
            assert.deepEqual(
              listed.map(({ id }) => id),
              expected.map(({ id }) => id),
              JSON.stringify(query),
            )
          }
        }
      }
    })

    it('is recognised by any part of its person, even after it was closed', async () => {
      const organisationId = await fixture.createOrganisation()
      const [one, two, three] = [1, 2, 3].map((byte) => Buffer.alloc(16, byte))
      assert.ok(one && two && three)
      const older = await create(organisationId, {}, [one, two])
      const newer = await create(organisationId, { receivedAt: start + 1 }, [two, three, three])
      await create(await fixture.createOrganisation(), {}, [one])
      await requests().close(older, cancel, note(organisationId, 'request.cancelled'))
      const ofPerson = async (digests: readonly Uint8Array[], limit = 9) =>
        (await requests().ofPerson(organisationId, digests, limit)).map(({ id }) => id)
      assert.deepEqual(await ofPerson([one]), [older.id])
      assert.deepEqual(await ofPerson([one, two, three]), [newer.id, older.id])
      assert.deepEqual(await ofPerson([two], 1), [newer.id])
      assert.deepEqual(await ofPerson([Buffer.alloc(16, 9)]), [])
    })

    it('is listed on pages of about a mebibyte', async () => {
      const organisationId = await fixture.createOrganisation()
      const subjects = Array.from({ length: 32 }, (_, i) => ({
        trackerId: '🏢'.repeat(256),
        subjectId: `${i}`,
      }))
      const ids: string[] = []
      for (let i = 0; i < 50; i++) {
        ids.push((await create(organisationId, { person: { identifiers: [], subjects } })).id)
      }
      const sizes: number[] = []
      const listed = await walk<PrivacyRequest, PrivacyRequestPosition>(async (after) => {
        const page = await requests().list(organisationId, { ...everything, limit: 200, after })
        sizes.push(Buffer.byteLength(JSON.stringify(page.rows)))
        return page
      })
      assert.deepEqual(listed.map(({ id }) => id).sort(), ids.sort())
      assert.ok(Math.max(...sizes) <= maxPageBytes && (sizes[0] ?? 0) > 0.9 * maxPageBytes, sizes.join())
    })

    it('is extended once', async () => {
      const request = await create(await fixture.createOrganisation())
      const extend = (now: number) => {
        const extension = { dueAt: start + 90, reason: 'many systems', now }
        return requests().extend(request, extension, note(request.organisationId, 'request.extended'))
      }
      assert.deepEqual([await extend(start + 2), await extend(start + 3)], [true, false])
      const extended = { dueAt: start + 90, extendedAt: start + 2, extensionReason: 'many systems' }
      assert.partialDeepStrictEqual(await found(request), extended)
      assert.deepEqual(await kindsOf(request.organisationId), ['request.extended', 'request.created'])
    })

    it('deletes its person when it is closed, which happens once', async () => {
      const request = await create(await fixture.createOrganisation())
      const { organisationId } = request
      const reject: RequestClosing = {
        ...{ from: ['open'], to: 'rejected', now: start + 4, rejectionReason: 'not a customer' },
      }
      const rejected = note(organisationId, 'request.rejected')
      assert.equal(await requests().close(request, reject, rejected), true)
      assert.equal(await requests().close(request, cancel, note(organisationId, 'request.cancelled')), false)
      const closed = {
        state: 'rejected',
        closedAt: start + 4,
        rejectionReason: 'not a customer',
        person: null,
      }
      assert.partialDeepStrictEqual(await found(request), closed)
      const extension = { dueAt: start + 90, reason: 'late', now: start + 5 }
      assert.equal(
        await requests().extend(request, extension, note(organisationId, 'request.extended')),
        false,
      )
      assert.deepEqual(await kindsOf(organisationId), ['request.rejected', 'request.created'])
    })

    it('is removed some time after it was closed, in steps', async () => {
      const tracker = await fixture.createTracker()
      const request = await run(tracker)
      const { organisationId } = tracker
      const closing = { ...cancel, now: -5 }
      await requests().close(request, closing, note(organisationId, 'request.cancelled'))
      const sweep = (before: number) => requests().sweep(organisationId, stepBefore(before, 2))
      assert.deepEqual(await sweep(-5), { requests: 0, isDone: true })
      assert.deepEqual(await sweep(-4), { requests: 0, isDone: false }, 'its items')
      assert.equal((await found(request)).state, 'cancelled')
      assert.deepEqual(await sweep(-4), { requests: 1, isDone: true }, 'the request itself')
      assert.equal(await requests().find(request), null)
    })

    it('is kept as long as the activity: a day longer if its organisation’s window is shortened', async () => {
      const [one, other] = [await fixture.createOrganisation(), await fixture.createOrganisation()]
      const closedAt = start - 60 * dayMs
      for (const organisationId of [one, other]) {
        await rememberWindows(fixture.store, keeping(100), organisationId)
        const closing = { ...cancel, now: closedAt }
        const request = await create(organisationId)
        await requests().close(request, closing, note(organisationId, 'request.cancelled'))
      }
      const swept = async (organisationId: string, now: number) =>
        (await requests().sweep(organisationId, { policy: keeping(50), now, maxRows: 10 })).requests
      const settling = { policy: keeping(50), now: start, rule: 'grace' } as const
      await fixture.store.retention.settleWindows({ ...settling, organisationId: one })
      assert.deepEqual([await swept(one, start), await swept(one, start + dayMs - 1)], [0, 0])
      assert.equal(await requests().countClosedBefore(one, closedAt), 0)
      assert.equal(await requests().countClosedBefore(one, closedAt + 1), 1)
      assert.deepEqual([await swept(one, start + dayMs), await swept(other, start + dayMs)], [1, 0])
      assert.equal(await requests().countClosedBefore(one, closedAt + 1), 0)
      assert.equal(await requests().countClosedBefore(other, closedAt + 1), 1)
      assert.deepEqual(await requests().sweep('nobody', stepBefore(start, 10)), { requests: 0, isDone: true })
    })

    it('is removed with its organisation', async () => {
      const tracker = await fixture.createTracker()
      const { organisationId } = tracker
      const request = await run(tracker)
      const deleted = note(organisationId, 'organisation.deleted')
      assert.ok(
        await fixture.store.deletions.deleteOrganisation(organisationId, organisationId, start, deleted),
      )
      assert.equal(await requests().find(request), null)
      assert.deepEqual(await outcomes(request), [])
      assert.equal(await requests().next('one', request), false)
    })
  })

  describe('a running privacy request', () => {
    it('is started once', async () => {
      const request = await create(await fixture.createOrganisation())
      const starter = { startedBy: actor, requestId: 'req-1', found: { subjects: 4, sessions: 5, events: 6 } }
      assert.deepEqual([await begin(request, starter), await begin(request, starter)], [true, false])
      assert.partialDeepStrictEqual(await found(request), { state: 'running', ...starter, left: null })
    })

    it('is leased to one process at a time, until the lease ends', async () => {
      const request = await run(await fixture.createTracker())
      assert.equal(await lease(request, 'two', start + 9, start + 19), false)
      assert.equal(await requests().next('two', request), false)
      assert.equal(await lease(request, 'two', start + 10, start + 20), true)
      assert.equal(await requests().next('one', request), false)
      assert.equal((await found(request)).resumesAt, null)
      assert.equal(await lease(request, 'one', start - 90, start - 80), true, 'a clock was ahead')
    })

    it('rests until its time, and no longer than the maximum', async () => {
      const request = await run(await fixture.createTracker())
      await requests().release('two', request, { runsAt: start + 5, isBudgetSpent: false })
      assert.notEqual(await requests().next('one', request), false, 'another process does not end the lease')
      await requests().release('one', request, { runsAt: start + 100, isBudgetSpent: true })
      assert.equal((await found(request)).resumesAt, start + 100)
      assert.equal(await lease(request, 'one', start + 99, start + 109), false)
      assert.equal(await lease(request, 'one', start + 100, start + 110), true)
      assert.equal((await found(request)).resumesAt, null)
      await requests().release('one', request, { runsAt: start + 5_000, isBudgetSpent: false })
      assert.equal((await found(request)).resumesAt, null)
      assert.equal(await lease(request, 'one', start + 200, start + 210), true, 'a clock was ahead')
    })

    it('alternates with those of other organisations', async () => {
      const organisations = [await fixture.createOrganisation(), await fixture.createOrganisation()]
      const own = new Set<string>()
      for (const organisationId of [0, 0, 0, 1, 1, 1].map((index) => organisations[index] ?? '')) {
        const request = await create(organisationId)
        await begin(request, { startedBy: actor, requestId: null, found: nothing })
        own.add(request.id)
      }
      const turns: string[] = []
      // These requests are leased before those of other tests, because their time is earliest.
      for (let after = ''; ; ) {
        const leased = await requests().lease('one', { now: 5, until: 10, restsUntil: start + 9_000, after })
        if (!leased) break
        after = leased.organisationId
        if (own.has(leased.id)) turns.push(after)
      }
      assert.equal(turns.length, 6)
      for (const [i, organisationId] of turns.entries())
        assert.notEqual(organisationId, turns[i + 1], turns.join())
    })

    it('lists its subjects until each is erased, by any erasure, in the erasure’s transaction', async () => {
      const tracker = await fixture.createTracker()
      const { trackerId } = tracker
      const request = await run(tracker)
      assert.equal(await requests().hasEntries(request), false)
      assert.deepEqual(await requests().next('one', request), { position: 0, trackerId, subjectId: 'anna' })
      await eraseIn(fixture.store, tracker, 'anna')
      assert.deepEqual(await requests().next('one', request), { position: 1, trackerId, subjectId: 'bert' })
      assert.equal(await requests().hasEntries(request), true)
      assert.deepEqual((await found(request)).erased, { subjects: 1, sessions: 1, events: 1 })
      const [item] = await requests().items(request, -1, 1)
      assert.deepEqual([item?.outcome, item?.trackerId, item?.entry?.ledgerIndex], ['erased', trackerId, 0])
      const { commitment } = testMark(tracker, 'anna', 0)
      assert.deepEqual(
        testKeyring.openNonce(item?.entry?.sealedNonce ?? '', commitment),
        testKeyring.nonce(trackerId, 'anna', 0),
      )
      assert.equal(await finish(request), null, 'a subject waits')
      await eraseIn(fixture.store, tracker, 'bert')
      assert.equal(await requests().next('one', request), null)
      assert.equal(await requests().countUnproven(request), 0)
    })

    it('is found by its ID with others, in its organisation only', async () => {
      const [own, other] = [await fixture.createOrganisation(), await fixture.createOrganisation()]
      const { id, reference } = await create(own)
      const unnamed = await create(own, { reference: null })
      const theirs = await create(other)
      const found = await requests().findMany(own, [id, unnamed.id, theirs.id, 'unknown'])
      assert.deepEqual(
        new Set(found),
        new Set([
          { id, reference },
          { id: unnamed.id, reference: null },
        ]),
      )
      assert.deepEqual(await requests().findMany(own, []), [])
    })

    it('is found by the entries of its erasures', async () => {
      const tracker = await fixture.createTracker()
      const request = await run(tracker)
      for (const id of ['nobody', 'anna']) await eraseIn(fixture.store, tracker, id)
      const entries = await requests().ofEntries(tracker.organisationId, [0, 1, 7])
      assert.deepEqual(
        entries.map(({ ledgerIndex, identifier, request: { id, reference } }) => [
          ...[ledgerIndex, identifier, id, reference],
        ]),
        [[1, null, request.id, 'Ticket 7']],
      )
      assert.deepEqual(await requests().ofEntries((await fixture.createTracker()).organisationId, [1]), [])
    })

    it('does not count a subject as erased about which nothing was held', async () => {
      const tracker = await fixture.createTracker()
      const request = await run(tracker, [])
      assert.equal(await add(request, tracker, ['nobody'], { searches: 1, isHeld: false }), true)
      await eraseIn(fixture.store, tracker, 'nobody')
      assert.deepEqual((await found(request)).erased, nothing)
      assert.deepEqual(await outcomes(request), ['erased'])
    })

    it('accepts search results only from its lease owner, in order, and when no subject waits', async () => {
      const tracker = await fixture.createTracker()
      const request = await run(tracker)
      assert.equal(await add(request, tracker, ['cora'], { searches: 1 }), false, 'subjects wait')
      for (const id of ['anna', 'bert']) await eraseIn(fixture.store, tracker, id)
      assert.equal(await add(request, tracker, ['cora'], { searches: 1, leaseOwner: 'two' }), false)
      assert.equal(await add(request, tracker, ['cora'], { searches: 0 }), false)
      assert.equal(await add(request, tracker, ['cora'], { searches: 1 }), true)
      assert.partialDeepStrictEqual(await found(request), {
        ...{ searches: 2, searchedAt: start + 1, found: { subjects: 2, sessions: 2, events: 2 } },
        heldIdentifiers: [0],
      })
      assert.deepEqual(await outcomes(request), ['erased', 'erased', 'waiting'])
    })

    it('ends with what it erased and what is left, and deletes its person', async () => {
      const tracker = await fixture.createTracker()
      const request = await run(tracker)
      await eraseIn(fixture.store, tracker, 'anna')
      await requests().markTrackerDeleted(request, 1)
      assert.equal(await finish(request, { left: 2 }), 0)
      assert.equal(await finish(request, { left: 3 }), null)
      const end = { state: 'done', closedAt: start + 7, left: 2, person: null, resumesAt: null }
      const erased = { subjects: 1, sessions: 1, events: 1 }
      assert.partialDeepStrictEqual(await found(request), { ...end, erased })
      assert.deepEqual(await outcomes(request), ['erased', 'gone'])
      assert.equal(await requests().countUnproven(request), 1)
      assert.equal(
        (await kindsOf(tracker.organisationId)).filter((kind) => kind === 'request.finished').length,
        1,
      )
    })

    it('is ended only by the owner of its lease, after the search that the owner knows', async () => {
      const tracker = await fixture.createTracker()
      const request = await run(tracker)
      for (const id of ['anna', 'bert']) await eraseIn(fixture.store, tracker, id)
      assert.equal(await finish(request, { lease: { leaseOwner: 'one', searches: 0 } }), null)
      assert.equal(await finish(request, { lease: null }), null)
      assert.equal(await lease(request, 'two', start + 10, start + 20), true)
      assert.equal(await finish(request, { left: 2 }), null, 'its lease has ended')
      assert.partialDeepStrictEqual(await found(request), { state: 'running', left: null })
      assert.equal(await finish(request, { lease: { leaseOwner: 'two', searches: 1 } }), 0)
      assert.partialDeepStrictEqual(await found(request), { state: 'done', left: 0 })
    })

    it('proves when it ends, once, that nothing is held about an identifier', async () => {
      const tracker = await fixture.createTracker()
      const { organisationId } = tracker
      const running = await run(tracker, ['anna'])
      await eraseIn(fixture.store, tracker, 'anna')
      const answered = await create(organisationId, { kind: 'access' })
      const nothingHeld = ['email', 'userId'].map((name, i) => ({
        ...{ name, sealedNonce: `sealed ${i}` },
        record: formatRecord({ version: 2, checkedAt: start, person: `person ${i}` }),
      }))
      const minEntries = { headKeys: testKeyring.headKeys, minEntries: 9 }
      await assert.rejects(finish(running, { nothingHeld, guard: minEntries }), /but the journal has 9/)
      assert.equal((await found(running)).state, 'running', 'nothing changed')
      const counts = { subjects: 0, sessions: 0, events: 1 }
      const ends: [PrivacyRequestRef, Partial<RequestEnd>][] = [
        [running, { nothingHeld }],
        [running, { nothingHeld }],
        [answered, { nothingHeld }],
        [answered, { nothingHeld, lease: null, left: null, found: counts }],
        [answered, { nothingHeld, lease: null }],
      ]
      const ended: (number | null)[] = []
      for (const [ref, end] of ends) ended.push(await finish(ref, end))
      assert.deepEqual(ended, [2, null, null, 2, null])
      const entry = (i: number, ledgerIndex: number) => ({
        ...{ outcome: 'nothing-held', trackerId: null, identifier: ['email', 'userId'][i] },
        entry: { ledgerIndex, sealedNonce: `sealed ${i}` },
      })
      const items = async (ref: PrivacyRequestRef) =>
        (await requests().items(ref, -1, 9)).map(({ position: _, ...item }) => item)
      assert.deepEqual((await items(running)).slice(1), [entry(0, 1), entry(1, 2)])
      assert.deepEqual(await items(answered), [entry(0, 3), entry(1, 4)])
      assert.deepEqual(
        (await requests().ofEntries(organisationId, [1, 3])).map(({ identifier, request }) => [
          ...[identifier, request.id],
        ]),
        [
          ['email', running.id],
          ['email', answered.id],
        ],
      )
      assert.partialDeepStrictEqual(await found(answered), { state: 'done', found: counts, left: null })
      const records = (await fixture.store.ledger.list(organisationId, 1, 9)).map(({ record }) => record)
      assert.deepEqual(
        records,
        [...nothingHeld, ...nothingHeld].map(({ record }) => record),
      )
    })

    it('deletes its waiting subjects when it is cancelled', async () => {
      const tracker = await fixture.createTracker()
      const request = await run(tracker)
      await eraseIn(fixture.store, tracker, 'anna')
      assert.ok(await requests().close(request, cancel, note(tracker.organisationId, 'request.cancelled')))
      await eraseIn(fixture.store, tracker, 'bert')
      assert.deepEqual(await outcomes(request), ['erased', 'stopped'])
      assert.partialDeepStrictEqual(await found(request), {
        ...{ state: 'cancelled', left: null, erased: { subjects: 1, sessions: 1, events: 1 } },
      })
      assert.equal(await requests().next('one', request), false)
    })

    it('deletes its waiting subjects in a removed tracker', async () => {
      const tracker = await fixture.createTracker()
      const { organisationId, trackerId } = tracker
      const request = await run(tracker)
      const deleted = note(organisationId, 'tracker.deleted')
      assert.ok(await fixture.store.deletions.deleteTracker(tracker, trackerId, start, deleted))
      while (!(await fixture.store.deletions.removeTracker(trackerId, 100)).isDone);
      assert.deepEqual(await outcomes(request), ['gone', 'gone'])
    })

    it('erases no subject that no longer waits', async () => {
      const { subjects, ledger } = fixture.store
      const changes: Record<string, (ref: PrivacyRequestRef) => Promise<unknown>> = {
        cancelled: (ref) => requests().close(ref, cancel, note(ref.organisationId, 'request.cancelled')),
        'settled by another process': (ref) => requests().markTrackerDeleted(ref, 1),
      }
      for (const [what, change] of Object.entries(changes)) {
        const tracker = await fixture.createTracker()
        const request = await run(tracker)
        await change(request)
        const mark = testMark(tracker, 'bert', start)
        const erasing = subjects.erase(tracker, 'bert', mark, undefined, { item: { request, position: 1 } })
        await assert.rejects(erasing, NotWaiting, what)
        assert.ok(await subjects.read(tracker, 'bert'), what)
        assert.equal(await ledger.head(tracker.organisationId), null, what)
      }
    })

    it('settles an item once, however many processes erase it concurrently', async () => {
      const tracker = await fixture.createTracker()
      const request = await run(tracker)
      const { subjects, ledger } = fixture.store
      const erase = () =>
        subjects.erase(tracker, 'anna', testMark(tracker, 'anna', start), undefined, {
          item: { request, position: 0 },
        })
      const erasures = await Promise.allSettled(Array.from({ length: 6 }, erase))
      const failed = erasures.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
      assert.equal(failed.length, 5)
      for (const reason of failed) assert.ok(reason instanceof NotWaiting, String(reason))
      assert.equal((await ledger.head(tracker.organisationId))?.frontier.size, 1)
    })
  })
}
