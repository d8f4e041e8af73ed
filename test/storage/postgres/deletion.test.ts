import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { openStoreAt } from '../../support/empty-store.ts'
import { freshStore } from '../../support/fresh-database.ts'
import { inReverse } from '../../support/in-reverse.ts'
import { connectTo, waitForLocks } from '../../support/raw-postgres.ts'
import { eventRow } from '../../support/rows.ts'
import { testKeys } from '../../support/test-keyring.ts'
import { deleteOrganisation, deleteTracker, newKey, removeAll } from '../contract/deletion.ts'
import { Fixture } from '../contract/fixture.ts'

const lifetime = inReverse({ after })
const address = await freshStore(lifetime)
const fixture = new Fixture()
fixture.use(await openStoreAt(address))
lifetime.after(() => fixture.store.close())

const [blocker, observer] = [await connectTo(lifetime, address), await connectTo(lifetime, address)]

/** Starts the operations while a lock is held, each once the earlier ones wait; then releases the lock. */
async function startInOrder(lock: string, works: (() => Promise<unknown>)[]): Promise<unknown[]> {
  await blocker.query('BEGIN')
  await blocker.query(lock)
  const begun: Promise<unknown>[] = []
  for (const work of works) {
    begun.push(work())
    await waitForLocks(observer, begun.length)
  }
  await blocker.query('ROLLBACK')
  return Promise.all(begun)
}

describe('a deletion', () => {
  it('waits for the import in progress, and deletes what it added', async () => {
    const tracker = await fixture.createTracker()
    const rows = (eventId: string) => [
      eventRow({ trackerId: tracker.trackerId, subjectId: 'anna', eventId }),
      eventRow({ trackerId: tracker.trackerId, subjectId: eventId, eventId }),
    ]
    await fixture.store.ingest.ingest(rows('e1'), testKeys)
    const isHeld = `SELECT 1 FROM subjects WHERE tracker_id = '${tracker.trackerId}' FOR UPDATE`
    const outcomes = await startInOrder(isHeld, [
      () => fixture.store.ingest.ingest(rows('e2'), testKeys),
      () => deleteTracker(fixture, tracker),
    ])
    assert.deepEqual(outcomes, [{ subjects: 1, sessions: 1, events: 2 }, true])
    const { removed } = await removeAll(fixture, tracker.trackerId)
    assert.deepEqual(removed, { subjects: 3, sessions: 3, events: 4 })
  })

  it('blocks additions to the organisation meanwhile, and then refuses them', async () => {
    const tracker = await fixture.createTracker()
    const { organisationId } = tracker
    const key = newKey(fixture, organisationId)
    // Blocks the deletion halfway, after it has marked the organisation.
    const isHeld = `SELECT 1 FROM trackers WHERE id = '${tracker.trackerId}' FOR KEY SHARE`
    const id = fixture.fresh('tracker')
    const outcomes = await startInOrder(isHeld, [
      () => deleteOrganisation(fixture, organisationId),
      () => fixture.store.apiKeys.create(key, 'a'.repeat(64)),
      () => fixture.store.trackers.create({ id, organisationId, name: id, createdAt: 1 }),
    ])
    assert.deepEqual(outcomes, [true, false, false])
    assert.deepEqual(await fixture.store.apiKeys.list(organisationId), [])
    await removeAll(fixture, tracker.trackerId)
  })
})
