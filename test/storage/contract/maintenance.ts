import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Store } from '../../../src/domain/store.ts'
import { storeRequest } from '../../support/privacy-request.ts'
import { at, eventRow, sessionRow } from '../../support/rows.ts'
import { eraseIn, testKeys, testMark } from '../../support/test-keyring.ts'
import { stepBefore } from '../../support/windows.ts'
import { deleteOrganisation, deleteTracker, removeAll } from './deletion.ts'
import { Fixture } from './fixture.ts'
import { addMember, memberNote } from './member.ts'

const now = at('2026-11-15T03:00:00.000Z')
const start = at('2026-11-01T10:00:00.000Z')

type Deletion = (fixture: Fixture) => Promise<() => Promise<unknown>>

/** A running request that still has to erase `anna`, of whom a tracker holds a session. */
async function waitingRequest(fixture: Fixture) {
  const { privacyRequests, requestGroups, ingest } = fixture.store
  const tracker = await fixture.createTracker()
  const { trackerId, organisationId } = tracker
  await ingest.ingest(
    [sessionRow({ trackerId, subjectId: 'anna', sessionId: 's', startedAt: start, endedAt: start })],
    testKeys,
  )
  const { id } = await storeRequest(fixture.store, organisationId, { receivedAt: start })
  const ref = { organisationId, id }
  const found = { subjects: 1, sessions: 1, events: 0 }
  const starter = { startedBy: { kind: 'command-line' }, requestId: null, found } as const
  const started = memberNote(fixture, organisationId, 'request.started')
  assert.equal((await requestGroups.start([{ ref, starter, note: started }])).started, 1)
  for (;;) {
    const lease = { now: start, until: start + 10, restsUntil: start + 1_000, after: '' }
    const leased = await privacyRequests.lease('one', lease)
    assert.ok(leased)
    if (leased.id === id) break
  }
  const subjects = [{ trackerId, subjectId: 'anna', isHeld: true }]
  const search = { subjects, found, heldIdentifiers: [0], now: start, isComplete: true }
  assert.ok(await privacyRequests.addSubjects('one', ref, 0, search))
  const cancel = (at = now) =>
    privacyRequests.close(
      ref,
      { from: ['running'], to: 'cancelled', now: at, rejectionReason: null },
      memberNote(fixture, organisationId, 'request.cancelled'),
    )
  return { tracker, ref, cancel }
}

/** Every deletion of personal data except erasures. Each prepares data and returns its deletion. */
export const deletions: Record<string, Deletion> = {
  async 'a subject with sessions and no events, in a replay'(fixture) {
    const tracker = await fixture.createTracker()
    const { trackerId } = tracker
    await fixture.store.subjects.erase(tracker, 'anna', testMark(tracker, 'anna', now))
    const session = sessionRow({
      trackerId,
      subjectId: 'anna',
      sessionId: 's',
      startedAt: start,
      endedAt: start,
    })
    await fixture.store.ingest.ingest([session], [])
    return () => fixture.store.replay.removeRefused(trackerId, ['anna'], testKeys)
  },
  async 'a waiting subject of a cancelled request'(fixture) {
    const { cancel } = await waitingRequest(fixture)
    return () => cancel()
  },
  async 'a waiting subject in a deleted tracker'(fixture) {
    const { ref } = await waitingRequest(fixture)
    return () => fixture.store.privacyRequests.markTrackerDeleted(ref, 0)
  },
  async 'the exclusion of a record from a request'(fixture) {
    const organisationId = await fixture.createOrganisation()
    const { requestHandling } = fixture.store
    const { id } = await storeRequest(fixture.store, organisationId, { receivedAt: start })
    const ref = { organisationId, id }
    const digest = Buffer.alloc(16, 1)
    const excluded = {
      trackerId: 'shop',
      reason: 'Another Ada',
      at: start,
      by: { kind: 'command-line' },
    } as const
    const note = (kind: 'request.record-excluded' | 'request.record-included') =>
      memberNote(fixture, organisationId, kind)
    await requestHandling.exclude(ref, excluded, [digest], note('request.record-excluded'))
    return () => requestHandling.include(ref, [digest], note('request.record-included'))
  },
  async 'a request that was closed long ago'(fixture) {
    const { ref, cancel } = await waitingRequest(fixture)
    await cancel(-9)
    return () => fixture.store.privacyRequests.sweep(ref.organisationId, stepBefore(-8, 10))
  },
  async 'a tracker with waiting subjects'(fixture) {
    const { tracker } = await waitingRequest(fixture)
    await eraseIn(fixture.store, await fixture.createTracker(), 'nobody')
    await deleteTracker(fixture, tracker)
    return () => removeAll(fixture, tracker.trackerId)
  },
  async 'an organisation'(fixture) {
    const organisationId = await fixture.createOrganisation()
    return () => deleteOrganisation(fixture, organisationId)
  },
  async 'the rest of an organisation'(fixture) {
    const organisationId = await fixture.createOrganisation()
    await deleteOrganisation(fixture, organisationId)
    await fixture.store.retention.sweepActivity(organisationId, stepBefore(now + 9e9, 10))
    return () => fixture.store.deletions.removeOrganisation(organisationId)
  },
  async 'a member'(fixture) {
    const { organisationId } = (await addMember(fixture)).member
    const { member } = await addMember(fixture, { organisationId })
    const note = memberNote(fixture, organisationId, 'member.removed')
    return () => fixture.store.members.remove(organisationId, member.id, note)
  },
  async 'an entry of the activity'(fixture) {
    const organisationId = await fixture.createOrganisation()
    await fixture.store.activity.add(memberNote(fixture, organisationId, 'member.joined'))
    return () => fixture.store.retention.sweepActivity(organisationId, stepBefore(now + 9e9, 10))
  },
  async 'a tombstone'(fixture) {
    const tracker = await fixture.createTracker()
    await fixture.store.subjects.erase(tracker, 'anna', testMark(tracker, 'anna', -9))
    return () => fixture.store.tombstones.sweep(-8, 10)
  },
  async 'a session that aged out'(fixture) {
    const { tracker } = await waitingRequest(fixture)
    return () => fixture.store.retention.sweep(tracker.trackerId, stepBefore(start + 1, 10))
  },
}

/** Maintenance affects the whole store, so it runs in another store on the same data. */
export function maintenanceContract(
  there: Fixture,
  folder: string,
  open: (folder: string) => Promise<Store>,
): void {
  describe('maintenance', () => {
    const here = new Fixture()
    before(async () => here.use(await open(join(folder, 'shared'))))
    after(() => here.store.close())

    it('is done by one store at a time, and returns the result of the work', async () => {
      const { promise: held, resolve: release } = Promise.withResolvers<void>()
      const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
      const first = here.store.maintenance.withMaintenanceLock(async () => {
        begin()
        await held
        return 'done'
      })
      await begun
      let didSecond = false
      const work = async () => {
        didSecond = true
      }
      for (const { store } of [there, here, there])
        assert.equal(await store.maintenance.withMaintenanceLock(work), null)
      assert.equal(didSecond, false)
      release()
      assert.equal(await first, 'done')
      assert.equal(await there.store.maintenance.withMaintenanceLock(async () => 7), 7)
      assert.equal(await here.store.maintenance.withMaintenanceLock(async () => 8), 8)
    })

    it('is released if the work fails, and rejects with its error', async () => {
      const error = new Error('the disk is full')
      await assert.rejects(
        here.store.maintenance.withMaintenanceLock(() => Promise.reject(error)),
        error,
      )
      assert.equal(await there.store.maintenance.withMaintenanceLock(async () => 'done'), 'done')
    })

    it('does not block requests: they read and write meanwhile', async () => {
      const done = await here.store.maintenance.withMaintenanceLock(async () => {
        const tracker = await there.createTracker()
        const { trackerId } = tracker
        await there.store.ingest.ingest([eventRow({ trackerId, subjectId: 'anna', eventId: 'e' })], testKeys)
        await eraseIn(there.store, tracker, 'anna')
        return here.listSubjectIds(tracker)
      })
      assert.deepEqual(done, [])
    })
  })

  describe('a scrub', () => {
    const fixture = new Fixture()
    let scrubs = 0
    before(async () => fixture.use(await open(join(folder, 'scrub'))))
    after(() => fixture.store.close())

    const isDue = async () => (await fixture.store.maintenance.scrubState()).isDue
    /** Scrubs, so that no scrub is due. */
    async function scrub(): Promise<number> {
      const lastAt = now + ++scrubs
      await fixture.store.maintenance.scrub(lastAt)
      return lastAt
    }
    async function fill() {
      const tracker = await fixture.createTracker()
      const { trackerId } = tracker
      const subjectIds = ['anna', 'ben', 'cleo']
      await fixture.ingest(
        subjectIds.map((subjectId, i) =>
          eventRow({ trackerId, subjectId, eventId: 'e', occurredAt: start + i }),
        ),
      )
      return tracker
    }

    it('is not due in a new store, whatever is added', async () => {
      assert.equal(await isDue(), false)
      await fill()
      assert.equal(await isDue(), false)
    })

    it('is due after an erasure, until it is done', async () => {
      const tracker = await fill()
      const before = await fixture.store.maintenance.scrubState()
      await eraseIn(fixture.store, tracker, 'anna')
      assert.deepEqual(await fixture.store.maintenance.scrubState(), { ...before, isDue: true })
      const lastAt = await scrub()
      assert.deepEqual(await fixture.store.maintenance.scrubState(), { lastAt, isDue: false })
      await eraseIn(fixture.store, tracker, 'ben')
      assert.deepEqual(await fixture.store.maintenance.scrubState(), { lastAt, isDue: true })
      await scrub()
    })

    it('is due after an erasure of aged, invisible data', async () => {
      const tracker = await fill()
      assert.equal(await isDue(), false)
      const erased = await eraseIn(fixture.store, { ...tracker, since: start + 9 }, 'anna')
      assert.deepEqual(erased, { sessions: 0, events: 0 })
      assert.equal(await isDue(), true)
      await scrub()
    })

    it('is due after a complete or partial sweep', async () => {
      const tracker = await fill()
      const { trackerId } = tracker
      await fixture.store.retention.sweep(trackerId, stepBefore(start + 1, 100))
      assert.equal(await isDue(), true)
      await scrub()
      const late = eventRow({ trackerId, subjectId: 'ben', eventId: 'late', occurredAt: start + 9 })
      await fixture.ingest([late])
      assert.equal(await isDue(), false)
      await fixture.store.retention.sweep(trackerId, stepBefore(start + 2, 100))
      assert.deepEqual(await fixture.listSubjectIds(tracker), ['ben', 'cleo'])
      assert.equal(await isDue(), true)
      await scrub()
    })

    for (const [what, prepare] of Object.entries(deletions)) {
      it(`is due once ${what} was deleted`, async () => {
        const act = await prepare(fixture)
        await scrub()
        await act()
        assert.equal(await isDue(), true)
        await scrub()
      })
    }

    it('is not due if nothing was deleted: unknown subject, hidden tracker, empty sweep', async () => {
      const tracker = await fill()
      // On PostgreSQL, erasing an unknown subject briefly stores a row, so that concurrent batches that add
      // the subject finish first.
      if (fixture.store.maintenance.scrubsEveryByte) await eraseIn(fixture.store, tracker, 'nobody')
      await eraseIn(fixture.store, { ...tracker, organisationId: 'nobody' }, 'anna')
      // This session started long ago but has not aged out.
      const session = { trackerId: tracker.trackerId, subjectId: 'dan', sessionId: 's' }
      await fixture.ingest([
        sessionRow({ ...session, startedAt: start - 9, endedAt: start + 9 }),
        eventRow({ ...session, eventId: 'e', occurredAt: start }),
      ])
      const swept = await fixture.store.retention.sweep(tracker.trackerId, stepBefore(start, 100))
      assert.deepEqual(swept, { subjects: 0, sessions: 0, events: 0, isDone: true })
      assert.equal(await isDue(), false)
    })

    it('keeps every row, and the totals', async () => {
      const tracker = await fill()
      await eraseIn(fixture.store, tracker, 'anna')
      const totals = () => fixture.store.dailyTotals.list(tracker, -1e6, 1e6)
      const before = [
        await fixture.readAll(tracker),
        await totals(),
        await fixture.store.organisations.list(),
      ]
      assert.equal(before[0]?.length, 2)
      await scrub()
      assert.deepEqual(
        [await fixture.readAll(tracker), await totals(), await fixture.store.organisations.list()],
        before,
      )
    })

    it('can run with nothing to do, and is remembered when the store is reopened', async () => {
      const lastAt = await scrub()
      const other = await open(join(folder, 'scrub'))
      assert.deepEqual(await other.maintenance.scrubState(), { lastAt, isDue: false })
      await other.close()
    })
  })
}
