import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { DataCounts } from '../../../src/domain/activity.ts'
import type { TrackerRef, TrackerView } from '../../../src/domain/tracker.ts'
import { newSignIn } from '../../support/console.ts'
import { newApiKey } from '../../support/new-api-key.ts'
import { at, eventRow } from '../../support/rows.ts'
import { eraseIn } from '../../support/test-keyring.ts'
import { keeping } from '../../support/windows.ts'
import { everySubject, type Fixture } from './fixture.ts'
import { addJoined, addMember, kindsOf, memberNote } from './member.ts'

const now = 1_794_000_000_000
const start = at('2026-11-01T10:00:00.000Z')
const hash = 'a'.repeat(64)

/** Deletes a tracker whose name is its ID, as in these tests. */
export function deleteTracker(fixture: Fixture, { organisationId, trackerId }: TrackerRef): Promise<boolean> {
  const note = memberNote(fixture, organisationId, 'tracker.deleted')
  return fixture.store.deletions.deleteTracker({ organisationId, trackerId }, trackerId, now, note)
}

export function deleteOrganisation(fixture: Fixture, id: string): Promise<boolean> {
  const note = memberNote(fixture, id, 'organisation.deleted')
  return fixture.store.deletions.deleteOrganisation(id, id, now, note)
}

/** Removes everything in a tracker. Returns the counts and the number of steps. */
export async function removeAll(fixture: Fixture, trackerId: string, maxRows = 5_000) {
  const removed: DataCounts = { subjects: 0, sessions: 0, events: 0 }
  for (let steps = 1; steps < 1_000; steps++) {
    const step = await fixture.store.deletions.removeTracker(trackerId, maxRows)
    removed.subjects += step.subjects
    removed.sessions += step.sessions
    removed.events += step.events
    if (step.isDone) return { steps, removed }
  }
  throw new Error('The removal has no end.')
}

/** A new key that is not stored. */
export function newKey(fixture: Fixture, organisationId: string) {
  return newApiKey({ id: fixture.fresh('key'), organisationId })
}

export function deletionContract(fixture: Fixture): void {
  async function fill({ trackerId }: TrackerView, subjects = 3, events = 4): Promise<void> {
    const rows = Array.from({ length: subjects * events }, (_, i) =>
      eventRow({
        trackerId,
        subjectId: `s${i % subjects}`,
        eventId: `e${i}`,
        name: `n${i}`,
        occurredAt: start + i,
      }),
    )
    await fixture.ingest(rows)
  }

  const pendingIds = async () => (await fixture.store.deletions.listTrackers()).map(({ id }) => id)
  const deletedIds = async () => (await fixture.store.deletions.listOrganisations()).map(({ id }) => id)

  /** Every read of a tracker. */
  async function ask(tracker: TrackerView): Promise<unknown[]> {
    const { store } = fixture
    const page = { limit: 10, after: null }
    return [
      await store.trackers.find(tracker.trackerId),
      await store.subjects.list(tracker, everySubject),
      await store.subjects.read(tracker, 's0'),
      await store.subjects.count(tracker, 10),
      await store.sessions.list(tracker, 's0', page),
      await store.events.list(tracker, 's0', { ...page, sessionId: null }),
      await store.events.list(tracker, 's0', { ...page, sessionId: 'session' }),
      await store.dailyTotals.list(tracker, 0, 99_999),
      await store.dailyTotals.sum(tracker, 0, 99_999),
      await eraseIn(store, tracker, 's0'),
    ]
  }

  describe('deleting a tracker', () => {
    it('hides it in the transaction that records it, while its data still exists', async () => {
      const tracker = await fixture.createTracker()
      const sibling = await fixture.createTracker(tracker.organisationId)
      await fill(tracker)
      assert.ok((await ask(sibling)).filter((answer) => answer === null).length < 5)
      assert.equal(await deleteTracker(fixture, tracker), true)
      assert.deepEqual(new Set(await ask(tracker)), new Set([null]))
      const listed = await fixture.store.trackers.list(tracker.organisationId)
      assert.deepEqual(
        listed.map(({ id }) => id),
        [sibling.trackerId],
      )
      assert.deepEqual(await kindsOf(fixture, tracker.organisationId), ['tracker.deleted'])
      const held = { subjects: 3, sessions: 3, events: 12 }
      assert.deepEqual(await fixture.store.deletions.count(tracker.trackerId), held)
      const renamed = memberNote(fixture, tracker.organisationId, 'tracker.renamed')
      assert.equal(await fixture.store.trackers.rename(tracker, 'New', renamed), false)
    })

    it('hides its subjects from batched reads', async () => {
      const tracker = await fixture.createTracker()
      await fill(tracker)
      await deleteTracker(fixture, tracker)
      const reads = ['s0', 's1', 's2'].map(async (id) => fixture.store.subjects.read(tracker, id))
      assert.deepEqual(await Promise.all(reads), [null, null, null])
    })

    it('happens once, for a tracker of the organisation with this name', async () => {
      const tracker = await fixture.createTracker()
      const { organisationId, trackerId } = tracker
      const other = await fixture.createOrganisation()
      const note = memberNote(fixture, organisationId, 'tracker.deleted')
      const { deletions } = fixture.store
      assert.equal(await deletions.deleteTracker(tracker, 'Another', now, note), false)
      assert.equal(await deleteTracker(fixture, { organisationId: other, trackerId }), false)
      assert.equal(await deleteTracker(fixture, { organisationId, trackerId: 'nothing' }), false)
      assert.deepEqual(await kindsOf(fixture, organisationId), [])
      assert.equal(await deleteTracker(fixture, tracker), true)
      assert.equal(await deleteTracker(fixture, tracker), false)
      assert.deepEqual(await kindsOf(fixture, organisationId), ['tracker.deleted'])
    })

    it('keeps its ID reserved until all its data is removed', async () => {
      const tracker = await fixture.createTracker()
      const { organisationId, trackerId } = tracker
      await fill(tracker)
      await deleteTracker(fixture, tracker)
      const again = { id: trackerId, organisationId, name: 'Again', createdAt: 2 }
      assert.equal(await fixture.store.trackers.create(again), false)
      await removeAll(fixture, trackerId)
      assert.equal(await fixture.store.trackers.create(again), true)
      assert.deepEqual(await fixture.listSubjectIds(tracker), [])
      assert.deepEqual(await fixture.store.dailyTotals.list(tracker, 0, 99_999), [])
    })
  })

  describe('removing a tracker that was deleted', () => {
    it('works in small steps, continues where it stopped, and leaves other trackers alone', async () => {
      const tracker = await fixture.createTracker()
      const sibling = await fixture.createTracker(tracker.organisationId)
      await fill(tracker, 3, 20)
      await fill(sibling)
      const before = await fixture.readAll(sibling)
      await deleteTracker(fixture, tracker)
      const first = await fixture.store.deletions.removeTracker(tracker.trackerId, 7)
      assert.ok(!first.isDone && first.events + first.sessions <= 7, JSON.stringify(first))
      assert.ok((await pendingIds()).includes(tracker.trackerId))
      const { steps, removed } = await removeAll(fixture, tracker.trackerId, 7)
      assert.ok(steps > 5, String(steps))
      assert.equal(removed.events + first.events, 60)
      assert.equal(removed.subjects + first.subjects, 3)
      assert.equal((await pendingIds()).includes(tracker.trackerId), false)
      assert.deepEqual(await fixture.readAll(sibling), before)
      assert.equal((await fixture.store.maintenance.scrubState()).isDue, true)
    })

    it('does nothing for a tracker that is not deleted or does not exist', async () => {
      const tracker = await fixture.createTracker()
      await fill(tracker)
      const nothing = { subjects: 0, sessions: 0, events: 0, isDone: true }
      for (const id of [tracker.trackerId, 'nothing']) {
        assert.deepEqual(await fixture.store.deletions.removeTracker(id, 100), nothing)
      }
      assert.equal((await fixture.readAll(tracker)).length, 3)
    })
  })

  describe('deleting an organisation', () => {
    it('ends only its keys, members, links and sign-ins, and hides only its trackers', async () => {
      const { store } = fixture
      const [tracker, other] = [await fixture.createTracker(), await fixture.createTracker()]
      const { organisationId } = tracker
      const keys = [newKey(fixture, organisationId), newKey(fixture, other.organisationId)] as const
      for (const key of keys) await store.apiKeys.create(key, hash)
      const member = await addJoined(fixture, { organisationId })
      const { link } = await addMember(fixture, { organisationId })
      const tokenHash = fixture.fresh('token')
      const signIn = newSignIn(member.id, tokenHash, now)
      await store.signIns.begin(signIn, now, memberNote(fixture, organisationId, 'member.signed-in'))
      await fill(tracker)
      await fill(other)
      assert.equal(await deleteOrganisation(fixture, organisationId), true)

      assert.equal(await store.organisations.find(organisationId), null)
      assert.equal(
        (await store.organisations.list()).some(({ id }) => id === organisationId),
        false,
      )
      assert.equal(await store.apiKeys.findCaller(keys[0].id), null)
      assert.equal(await store.signIns.find(tokenHash), null)
      assert.equal(await store.members.findInvited(link.tokenHash, now), null)
      assert.equal(await store.members.findByEmail(member.email, null), null)
      assert.deepEqual(new Set(await ask(tracker)), new Set([null]))
      const note = memberNote(fixture, organisationId, 'organisation.renamed')
      assert.equal(await store.organisations.rename(organisationId, 'New', note), false)
      assert.equal(await store.organisations.setPlan(organisationId, 'pro', note), false)
      await store.activity.add(note)
      assert.equal((await kindsOf(fixture, organisationId)).includes('organisation.renamed'), false)

      assert.equal((await store.apiKeys.findCaller(keys[1].id))?.key.id, keys[1].id)
      assert.equal((await fixture.readAll(other)).length, 3)
      await removeAll(fixture, tracker.trackerId)
    })

    it('happens once, for an organisation with this name', async () => {
      const id = await fixture.createOrganisation()
      const note = memberNote(fixture, id, 'organisation.deleted')
      const { deletions } = fixture.store
      assert.equal(await deletions.deleteOrganisation(id, 'Another', now, note), false)
      assert.equal(await deletions.deleteOrganisation('nobody', 'nobody', now, note), false)
      assert.equal(await deleteOrganisation(fixture, id), true)
      assert.equal(await deleteOrganisation(fixture, id), false)
      assert.deepEqual(await kindsOf(fixture, id), ['organisation.deleted'])
    })

    it('keeps its activity, and thus its ID, until the activity has aged out', async () => {
      const { organisationId: id, trackerId } = await fixture.createTracker()
      const { store } = fixture
      const again = { id, name: 'Again', plan: 'free', createdAt: 2 } as const
      const day = 86_400_000
      const step = (at: number) => ({ policy: keeping(1), now: at, maxRows: 100 })
      await deleteOrganisation(fixture, id)
      await store.deletions.removeOrganisation(id)
      assert.equal(await store.organisations.create(again), false)
      assert.deepEqual(await store.retention.sweepActivity(id, step(now + day)), { entries: 0, isDone: true })
      assert.equal((await store.retention.sweepActivity(id, step(now + day + 1))).entries, 1)
      await store.deletions.removeOrganisation(id)
      assert.ok((await deletedIds()).includes(id), 'a tracker of it is left')
      await removeAll(fixture, trackerId)
      await store.deletions.removeOrganisation(id)
      assert.equal((await deletedIds()).includes(id), false)
      assert.equal(await store.organisations.create(again), true)
    })

    it('does not remove an organisation that is not deleted', async () => {
      const id = await fixture.createOrganisation()
      await fixture.store.deletions.removeOrganisation(id)
      assert.equal((await fixture.store.organisations.find(id))?.id, id)
    })
  })
}
