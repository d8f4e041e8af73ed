import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ActivityKind, ActivityNote } from '../../../src/domain/activity.ts'
import { type NewBatch, type NewBatchItem, NotWaiting } from '../../../src/domain/erasure-batch.ts'
import type { TrackerView } from '../../../src/domain/tracker.ts'
import { at, eventRow } from '../../support/rows.ts'
import { eraseIn, testKeyring, testKeys, testMark } from '../../support/test-keyring.ts'
import type { Fixture } from './fixture.ts'

const start = at('2026-11-01T10:00:00.000Z')
const stop = { from: ['running', 'paused'], to: 'stopped' } as const
const pause = { from: ['running'], to: 'paused' } as const

export function erasureBatchContract(fixture: Fixture): void {
  function note(organisationId: string, kind: ActivityKind): ActivityNote {
    const actor = { kind: 'command-line' } as const
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

  function newBatch(organisationId: string, fields: Partial<NewBatch> = {}): NewBatch {
    return {
      ...{ id: fixture.fresh('batch'), organisationId, requestId: 'req-1', createdAt: start },
      startedBy: { kind: 'member', id: 'mem_1', name: 'ada@acme.example' },
      ...{ lines: 5, nothing: 1, invalid: 1, repeated: 1, empty: 3, other: 2, subjects: 2 },
      ...fields,
    }
  }

  /** A batch that waits for two subjects of a tracker, each of which has an event. */
  async function createBatch(tracker: TrackerView, fields: Partial<NewBatch> = {}): Promise<NewBatch> {
    const { trackerId, organisationId } = tracker
    await fixture.store.ingest.ingest(
      ['anna', 'bert'].map((subjectId) => eventRow({ trackerId, subjectId, eventId: 'e' })),
      testKeys,
    )
    const items: NewBatchItem[] = [
      { line: 1, outcome: 'nothing' },
      { line: 2, outcome: 'waiting', trackerId, subjectId: 'anna' },
      { line: 3, outcome: 'invalid' },
      { line: 4, outcome: 'repeated' },
      { line: 5, outcome: 'waiting', trackerId, subjectId: 'bert' },
    ]
    const batch = newBatch(organisationId, fields)
    assert.equal(
      await fixture.store.erasureBatches.create(batch, items, note(organisationId, 'batch.started')),
      true,
    )
    return batch
  }

  /** Lends batches until it is this one's turn, and gives back the others. */
  async function lease(
    { id }: NewBatch,
    leaseOwner: string,
    now = start,
    until = start + 10,
  ): Promise<boolean> {
    const { erasureBatches } = fixture.store
    // The others are given back as of just now, and so are not lent a second time.
    for (;;) {
      const lent = await erasureBatches.lease(leaseOwner, { now, until, steppedBefore: now - 1 })
      if (lent === null || lent.id === id) return lent !== null
      await erasureBatches.release(leaseOwner, lent.id, now)
    }
  }

  const outcomes = async ({ id }: NewBatch) =>
    (await fixture.store.erasureBatches.items(id, -1, 100)).map(({ line, outcome }) => [line, outcome])

  describe('a batch of erasures', () => {
    it('is there for its organisation alone, as it was created, with its note', async () => {
      const tracker = await fixture.createTracker()
      const { organisationId } = tracker
      const batch = await createBatch(tracker)
      const { erasureBatches, activity } = fixture.store
      const nothingYet = {
        finishedAt: null,
        settled: 0,
        erased: null,
        checkedAt: null,
        left: null,
        resumesAt: null,
      }
      const expected = { ...batch, kind: 'list', state: 'running', person: null, ...nothingYet }
      assert.deepEqual(await erasureBatches.find(organisationId, batch.id), expected)
      assert.deepEqual(await erasureBatches.list(organisationId, 'list', 10), [expected])
      const stranger = await fixture.createOrganisation()
      assert.equal(await erasureBatches.find(stranger, batch.id), null)
      assert.deepEqual(await erasureBatches.list(stranger, 'list', 10), [])
      const { rows } = await activity.list(organisationId, { limit: 10, after: null, requestId: null })
      assert.deepEqual(
        rows.map(({ kind }) => kind),
        ['batch.started'],
      )
    })

    it('is not stored for an organisation that is not there', async () => {
      const batch = newBatch('nobody')
      assert.equal(
        await fixture.store.erasureBatches.create(batch, [], note('nobody', 'batch.started')),
        false,
      )
    })

    it('is listed newest first', async () => {
      const tracker = await fixture.createTracker()
      const older = await createBatch(tracker)
      const newer = await createBatch(tracker, { createdAt: start + 1 })
      const { erasureBatches } = fixture.store
      const ids = async (limit: number) =>
        (await erasureBatches.list(tracker.organisationId, 'list', limit)).map(({ id }) => id)
      assert.deepEqual(await ids(10), [newer.id, older.id])
      assert.deepEqual(await ids(1), [newer.id])
    })

    it('has those who wait in the order of their lines, then the lines that lead to nobody', async () => {
      const batch = await createBatch(await fixture.createTracker())
      const all = [
        [2, 'waiting'],
        [5, 'waiting'],
        [1, 'nothing'],
        [3, 'invalid'],
        [4, 'repeated'],
      ]
      assert.deepEqual(await outcomes(batch), all)
      const [, second] = await fixture.store.erasureBatches.items(batch.id, 0, 2)
      assert.deepEqual([second?.line, second?.position], [1, 2])
    })

    it('is lent to one holder at a time, and again once the time is over', async () => {
      const batch = await createBatch(await fixture.createTracker())
      assert.equal(await lease(batch, 'one'), true)
      assert.equal(await lease(batch, 'other'), false)
      assert.equal(await lease(batch, 'one'), true, 'whoever has it may go on')
      assert.equal(await lease(batch, 'other', start + 10, start + 20), true)
      assert.equal(await fixture.store.erasureBatches.next('one', batch.id), false)
      await fixture.store.erasureBatches.release('one', batch.id, start)
      assert.equal(
        await lease(batch, 'one', start + 11, start + 21),
        false,
        'who has lost it cannot give it back',
      )
      await fixture.store.erasureBatches.release('other', batch.id, start + 11)
      assert.equal(await lease(batch, 'one', start + 12, start + 22), true)
    })

    it('is lent again when its holder’s clock was so far ahead that the lease would last much longer than one from now', async () => {
      const batch = await createBatch(await fixture.createTracker())
      const hour = 3_600_000
      assert.equal(await lease(batch, 'ahead', start + hour, start + hour + 10), true)
      assert.equal(await lease(batch, 'other'), true)
      assert.equal(await fixture.store.erasureBatches.next('ahead', batch.id), false)
    })

    it('stays with a holder whose clock is a little ahead', async () => {
      const batch = await createBatch(await fixture.createTracker())
      assert.equal(await lease(batch, 'ahead', start + 5, start + 15), true)
      assert.equal(await lease(batch, 'other'), false)
    })

    it('has its turn before others when it was given back in the future, by a clock that ran ahead', async () => {
      const tracker = await fixture.createTracker()
      const [ahead, other] = [await createBatch(tracker), await createBatch(tracker)]
      const { erasureBatches } = fixture.store
      assert.equal(await lease(ahead, 'one'), true)
      await erasureBatches.release('one', ahead.id, start + 3_600_000)
      const now = start + 60_000
      const lent = await erasureBatches.lease('one', { now, until: now + 10, steppedBefore: now })
      assert.equal(lent?.id, ahead.id, `not ${other.id}`)
      await erasureBatches.release('one', ahead.id, start)
    })

    it('is lent to one of many who ask concurrently', async () => {
      const batch = await createBatch(await fixture.createTracker())
      const { erasureBatches } = fixture.store
      const term = { now: start, until: start + 10, steppedBefore: start - 1 }
      const lent = await Promise.all(
        Array.from({ length: 8 }, (_, i) => erasureBatches.lease(`owner-${i}`, term)),
      )
      const ids = lent.flatMap((each) => each?.id ?? [])
      assert.equal(new Set(ids).size, ids.length)
      for (const [i, each] of lent.entries())
        if (each) await erasureBatches.release(`owner-${i}`, each.id, start - 5)
      assert.equal(await lease(batch, 'last', start), true)
    })

    it('has no turn before its time when it was given back', async () => {
      const batch = await createBatch(await fixture.createTracker())
      const { erasureBatches } = fixture.store
      await lease(batch, 'one')
      await erasureBatches.release('one', batch.id, start)
      assert.equal(await lease(batch, 'one', start), false)
      assert.equal(await lease(batch, 'one', start + 2), true)
      await erasureBatches.release('one', batch.id, start)
      assert.equal(
        await lease(batch, 'one', start - 2),
        true,
        'a clock that was set back keeps nobody waiting',
      )
    })

    it('goes from one who waits to the next as they are erased, and forgets who they were', async () => {
      const tracker = await fixture.createTracker()
      const batch = await createBatch(tracker)
      const { erasureBatches } = fixture.store
      await lease(batch, 'one')
      const anna = { position: 0, trackerId: tracker.trackerId, subjectId: 'anna' }
      assert.deepEqual(await erasureBatches.next('one', batch.id), anna)
      await eraseIn(fixture.store, tracker, 'anna')
      assert.deepEqual(await erasureBatches.next('one', batch.id), {
        ...anna,
        position: 1,
        subjectId: 'bert',
      })
      assert.equal((await erasureBatches.find(tracker.organisationId, batch.id))?.settled, 1)
      await eraseIn(fixture.store, tracker, 'bert')
      assert.equal(await erasureBatches.next('one', batch.id), null)
      const [first] = await erasureBatches.items(batch.id, -1, 1)
      assert.equal(first?.outcome, 'erased')
      assert.equal(first.erasure?.ledgerIndex, 0)
      const { commitment } = testMark(tracker, 'anna', 0)
      const nonce = testKeyring.openNonce(first.erasure.sealedNonce, commitment)
      assert.deepEqual(nonce, testKeyring.nonce(tracker.trackerId, 'anna', 0))
    })

    it('is settled by erasures that are asked for at one moment, each with its own entry of the ledger', async () => {
      const tracker = await fixture.createTracker()
      const batch = await createBatch(tracker)
      await Promise.all(['anna', 'bert', 'nobody'].map((id) => eraseIn(fixture.store, tracker, id)))
      const items = await fixture.store.erasureBatches.items(batch.id, -1, 2)
      assert.deepEqual(
        items.map(({ outcome }) => outcome),
        ['erased', 'erased'],
      )
      assert.equal(new Set(items.map(({ erasure }) => erasure?.ledgerIndex)).size, 2)
    })

    it('is not touched by the erasure of the same id in another tracker', async () => {
      const tracker = await fixture.createTracker()
      const batch = await createBatch(tracker)
      await eraseIn(fixture.store, await fixture.createTracker(tracker.organisationId), 'anna')
      assert.deepEqual((await outcomes(batch))[0], [2, 'waiting'])
    })

    it('ends with what it erased, when nobody waits any more and not before', async () => {
      const tracker = await fixture.createTracker()
      const { organisationId } = tracker
      const batch = await createBatch(tracker)
      const { erasureBatches } = fixture.store
      await eraseIn(fixture.store, tracker, 'anna')
      await erasureBatches.finish(batch.id, start + 1, note(organisationId, 'batch.finished'))
      assert.equal((await erasureBatches.find(organisationId, batch.id))?.state, 'running')
      await erasureBatches.markTrackerDeleted(batch.id, 1)
      await erasureBatches.finish(batch.id, start + 2, note(organisationId, 'batch.finished'))
      const ended = await erasureBatches.find(organisationId, batch.id)
      assert.deepEqual([ended?.state, ended?.finishedAt, ended?.settled], ['done', start + 2, 2])
      assert.deepEqual(ended?.erased, { subjects: 1, sessions: 1, events: 1 })
      assert.deepEqual((await outcomes(batch))[1], [5, 'gone'])
      const { rows } = await fixture.store.activity.list(organisationId, {
        limit: 10,
        after: null,
        requestId: null,
      })
      assert.equal(rows.filter(({ kind }) => kind === 'batch.finished').length, 1)
    })

    it('is lent to nobody while it is paused', async () => {
      const batch = await createBatch(await fixture.createTracker())
      const { erasureBatches } = fixture.store
      await lease(batch, 'one')
      const paused = note(batch.organisationId, 'batch.paused')
      assert.equal(await erasureBatches.change(batch, pause, start, paused), true)
      assert.equal(await erasureBatches.change(batch, pause, start, paused), false)
      assert.equal(await erasureBatches.next('one', batch.id), false)
      assert.equal(await lease(batch, 'one'), false)
    })

    it('forgets who waits when it is stopped, for good', async () => {
      const tracker = await fixture.createTracker()
      const batch = await createBatch(tracker)
      const { erasureBatches } = fixture.store
      await eraseIn(fixture.store, tracker, 'anna')
      const foreign = { id: batch.id, organisationId: await fixture.createOrganisation() }
      const stopped = note(batch.organisationId, 'batch.stopped')
      assert.equal(
        await erasureBatches.change(foreign, stop, start + 3, note(foreign.organisationId, 'batch.stopped')),
        false,
      )
      assert.equal(await erasureBatches.change(batch, stop, start + 3, stopped), true)
      const ended = await erasureBatches.find(batch.organisationId, batch.id)
      assert.deepEqual([ended?.state, ended?.finishedAt, ended?.erased?.subjects], ['stopped', start + 3, 1])
      assert.deepEqual((await outcomes(batch)).slice(0, 2), [
        [2, 'erased'],
        [5, 'stopped'],
      ])
      await eraseIn(fixture.store, tracker, 'bert')
      assert.deepEqual(
        (await outcomes(batch))[1],
        [5, 'stopped'],
        'an id that is forgotten is found by nobody',
      )
      assert.equal(
        await erasureBatches.change(batch, { from: ['paused'], to: 'running' }, start, stopped),
        false,
      )
    })

    it('erases nobody who does not wait in it any more', async () => {
      const { erasureBatches, deletions, subjects, ledger } = fixture.store
      const changes: Record<string, (batch: NewBatch, tracker: TrackerView) => Promise<unknown>> = {
        paused: (batch) =>
          erasureBatches.change(batch, pause, start, note(batch.organisationId, 'batch.paused')),
        stopped: (batch) =>
          erasureBatches.change(batch, stop, start, note(batch.organisationId, 'batch.stopped')),
        'settled by another process': (batch) => erasureBatches.markTrackerDeleted(batch.id, 1),
      }
      for (const [what, change] of Object.entries(changes)) {
        const tracker = await fixture.createTracker()
        const batch = await createBatch(tracker)
        await change(batch, tracker)
        const item = { batchId: batch.id, position: 1 }
        const entry = note(tracker.organisationId, 'subject.erased')
        const erasing = subjects.erase(tracker, 'bert', testMark(tracker, 'bert', start), entry, { item })
        await assert.rejects(erasing, NotWaiting, what)
        assert.ok(await subjects.read(tracker, 'bert'), what)
        assert.equal(await ledger.head(tracker.organisationId), null, what)
      }
      const tracker = await fixture.createTracker()
      const { organisationId } = tracker
      const batch = await createBatch(tracker)
      const item = { batchId: batch.id, position: 1 }
      const erase = () =>
        subjects.erase(tracker, 'bert', testMark(tracker, 'bert', start), undefined, { item })
      assert.deepEqual((await erase())?.counts, { sessions: 1, events: 1 })
      await assert.rejects(erase(), NotWaiting, 'a second time')
      assert.equal((await ledger.head(organisationId))?.frontier.size, 1)
      const deleted = note(organisationId, 'organisation.deleted')
      assert.ok(await deletions.deleteOrganisation(organisationId, organisationId, start, deleted))
      assert.equal(await erase(), null, 'of an organisation that was deleted')
    })

    it('settles an item once, however many processes erase it concurrently', async () => {
      const tracker = await fixture.createTracker()
      const batch = await createBatch(tracker)
      const { subjects, ledger } = fixture.store
      const item = { batchId: batch.id, position: 0 }
      const erasures = await Promise.allSettled(
        Array.from({ length: 6 }, () =>
          subjects.erase(tracker, 'anna', testMark(tracker, 'anna', start), undefined, { item }),
        ),
      )
      const failed = erasures.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
      assert.equal(failed.length, 5)
      for (const reason of failed) assert.ok(reason instanceof NotWaiting, String(reason))
      assert.equal((await ledger.head(tracker.organisationId))?.frontier.size, 1)
    })

    it('is overdue when it was made before an instant and is not over', async () => {
      const tracker = await fixture.createTracker()
      const batch = await createBatch(tracker, { createdAt: start - 1_000 })
      const isOverdue = async (before: number) =>
        (await fixture.store.erasureBatches.listOverdue(before)).some(({ id }) => id === batch.id)
      assert.deepEqual([await isOverdue(start - 1_000), await isOverdue(start - 999)], [false, true])
      await fixture.store.erasureBatches.change(
        batch,
        stop,
        start,
        note(tracker.organisationId, 'batch.stopped'),
      )
      assert.equal(await isOverdue(start), false)
    })

    it('is removed some time after it ended, in steps', async () => {
      const tracker = await fixture.createTracker()
      const batch = await createBatch(tracker)
      const { erasureBatches } = fixture.store
      await erasureBatches.change(batch, stop, -5, note(tracker.organisationId, 'batch.stopped'))
      assert.equal(await erasureBatches.sweep(-5, 3), 0)
      assert.equal(await erasureBatches.sweep(-4, 3), 3)
      assert.ok(await erasureBatches.find(tracker.organisationId, batch.id))
      assert.equal(await erasureBatches.sweep(-4, 3), 3, 'two items and the batch')
      assert.equal(await erasureBatches.find(tracker.organisationId, batch.id), null)
      assert.equal(await erasureBatches.sweep(-4, 3), 0)
    })

    it('goes with its organisation', async () => {
      const tracker = await fixture.createTracker()
      const { organisationId } = tracker
      const batch = await createBatch(tracker)
      const deleted = note(organisationId, 'organisation.deleted')
      assert.ok(
        await fixture.store.deletions.deleteOrganisation(organisationId, organisationId, start, deleted),
      )
      assert.equal(await fixture.store.erasureBatches.find(organisationId, batch.id), null)
      assert.deepEqual(await outcomes(batch), [])
    })

    it('forgets who waits in a tracker that is removed', async () => {
      const tracker = await fixture.createTracker()
      const { organisationId, trackerId } = tracker
      const batch = await createBatch(tracker)
      const deleted = note(organisationId, 'tracker.deleted')
      assert.ok(await fixture.store.deletions.deleteTracker(tracker, trackerId, start, deleted))
      while (!(await fixture.store.deletions.removeTracker(trackerId, 100)).isDone);
      assert.deepEqual((await outcomes(batch)).slice(0, 2), [
        [2, 'gone'],
        [5, 'gone'],
      ])
    })
  })

  describe('a batch of one person', () => {
    const person = {
      identifiers: [{ name: 'email', value: 'ada@example.com' }],
      subjects: [{ trackerId: 'shop', subjectId: 'ada' }],
    }

    /** One that waits for a subject, lent to `one`. */
    async function createPerson(tracker: TrackerView): Promise<NewBatch> {
      const { trackerId, organisationId } = tracker
      const counts = { lines: 1, nothing: 0, invalid: 0, repeated: 0, subjects: 1 }
      const batch = newBatch(organisationId, { ...counts, person })
      const items = [{ line: 1, outcome: 'waiting', trackerId, subjectId: 'anna' }] as const
      assert.ok(
        await fixture.store.erasureBatches.create(batch, items, note(organisationId, 'batch.started')),
      )
      assert.equal(await lease(batch, 'one'), true)
      return batch
    }

    const found = async ({ organisationId, id }: NewBatch) => {
      const batch = await fixture.store.erasureBatches.find(organisationId, id)
      assert.ok(batch)
      return batch
    }

    it('knows the person until it is over, done or stopped', async () => {
      const tracker = await fixture.createTracker()
      const { erasureBatches } = fixture.store
      const [done, stopped] = [await createPerson(tracker), await createPerson(tracker)]
      for (const batch of [done, stopped])
        assert.partialDeepStrictEqual(await found(batch), { kind: 'person', person, left: null })
      await erasureBatches.change(stopped, stop, start, note(tracker.organisationId, 'batch.stopped'))
      await eraseIn(fixture.store, tracker, 'anna')
      await erasureBatches.finish(done.id, start + 1, note(tracker.organisationId, 'batch.finished'), 3)
      assert.partialDeepStrictEqual(await found(stopped), { state: 'stopped', person: null, left: null })
      assert.partialDeepStrictEqual(await found(done), { state: 'done', person: null, left: 3 })
    })

    it('is extended once, by whoever has it, when nobody waits in it', async () => {
      const tracker = await fixture.createTracker()
      const { trackerId } = tracker
      const batch = await createPerson(tracker)
      const { erasureBatches } = fixture.store
      const late = ['cora', 'dora'].map((subjectId) => ({ trackerId, subjectId }))
      assert.equal(await erasureBatches.extend('one', batch.id, late, start + 1), false)
      await eraseIn(fixture.store, tracker, 'anna')
      assert.equal(await erasureBatches.extend('another', batch.id, late, start + 1), false)
      assert.equal(await erasureBatches.extend('one', batch.id, late, start + 1), true)
      assert.partialDeepStrictEqual(await found(batch), { subjects: 3, settled: 1, checkedAt: start + 1 })
      const cora = { position: 1, trackerId, subjectId: 'cora' }
      assert.deepEqual(await erasureBatches.next('one', batch.id), cora)
      for (const { subjectId } of late) await eraseIn(fixture.store, tracker, subjectId)
      assert.equal(await erasureBatches.next('one', batch.id), null)
      assert.equal(await erasureBatches.extend('one', batch.id, late, start + 2), false)
      assert.partialDeepStrictEqual(await found(batch), { subjects: 3, settled: 3, checkedAt: start + 1 })
    })

    it('rests until its time has come, and no longer when the clock was set back', async () => {
      const batch = await createPerson(await fixture.createTracker())
      const { erasureBatches } = fixture.store
      await erasureBatches.release('one', batch.id, start, start + 100)
      assert.equal((await found(batch)).resumesAt, start + 100)
      assert.equal(await lease(batch, 'one', start + 99, start + 109), false)
      assert.equal(await lease(batch, 'one', start + 100, start + 110), true)
      assert.equal((await found(batch)).resumesAt, null)
      await erasureBatches.release('one', batch.id, start + 100, start + 200)
      assert.equal(await lease(batch, 'one', start + 50, start + 60), true)
    })

    it('is counted while it is not over, apart from lists', async () => {
      const tracker = await fixture.createTracker()
      const { organisationId } = tracker
      const { erasureBatches } = fixture.store
      const counts = async () => [
        await erasureBatches.countOpen(organisationId, 'person'),
        await erasureBatches.countOpen(organisationId, 'list'),
      ]
      assert.deepEqual(await counts(), [0, 0])
      const batch = await createPerson(tracker)
      await createBatch(tracker)
      await createBatch(await fixture.createTracker())
      assert.deepEqual(await counts(), [1, 1])
      await erasureBatches.change(batch, stop, start, note(organisationId, 'batch.stopped'))
      assert.deepEqual(await counts(), [0, 1])
    })

    it('is found by the entries of its erasures, before a list that has them too', async () => {
      const tracker = await fixture.createTracker()
      const { erasureBatches } = fixture.store
      const list = await createBatch(tracker)
      const batch = await createPerson(tracker)
      const stranger = await fixture.createTracker()
      await createBatch(stranger)
      for (const id of ['anna', 'bert', 'nobody']) await eraseIn(fixture.store, tracker, id)
      await eraseIn(fixture.store, stranger, 'anna')
      const entries = await erasureBatches.ofEntries(tracker.organisationId, [0, 1, 2, 7])
      assert.deepEqual(
        entries.map(({ ledgerIndex, batch: { id, kind } }) => [ledgerIndex, id, kind]),
        [
          [0, batch.id, 'person'],
          [0, list.id, 'list'],
          [1, list.id, 'list'],
        ],
      )
      const { commitment } = testMark(tracker, 'anna', 0)
      assert.deepEqual(
        testKeyring.openNonce(entries[0]?.sealedNonce ?? '', commitment),
        testKeyring.nonce(tracker.trackerId, 'anna', 0),
      )
      assert.deepEqual(await erasureBatches.ofEntries(tracker.organisationId, []), [])
    })
  })
}
