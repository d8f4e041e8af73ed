import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { eventRow } from '../../support/rows.ts'
import type { Bench } from './bench.ts'
import { deleteOrganisation, deleteTracker, newKey, removeAll } from './deletion.ts'
import { addJoined, addMember, memberNote } from './member.ts'

const now = 1_794_000_000_000
const rounds = 4

/** What is added to a tracker or an organisation at the moment it is deleted is there before, and goes with it, or is refused. */
export function deletionRaceContract(bench: Bench): void {
  describe('a deletion at the moment', () => {
    it('of an import leaves nothing behind, and fails nobody', async () => {
      for (let round = 0; round < rounds; round++) {
        const { store } = bench
        const tracker = await bench.createTracker()
        const other = await bench.createTracker(tracker.organisationId)
        const batch = (n: number) =>
          Array.from({ length: 60 }, (_, i) =>
            eventRow({
              trackerId: i % 6 === 0 ? other.trackerId : tracker.trackerId,
              subjectId: `s${i % 7}`,
              eventId: `e${n}-${i}`,
            }),
          )
        await store.ingest.ingest(batch(0))
        const imports = [1, 2, 3, 4].map((n) => store.ingest.ingest(batch(n)))
        const [isDeleted, ...added] = await Promise.all([deleteTracker(bench, tracker), ...imports])
        assert.equal(isDeleted, true)
        for (const { events, refused = [] } of added) {
          assert.equal(events + refused.reduce((sum, { rows }) => sum + rows, 0), 60)
        }
        const held = await store.deletions.count(tracker.trackerId)
        const { removed } = await removeAll(bench, tracker.trackerId, 50)
        assert.deepEqual(removed, held)
        assert.equal(
          (await bench.readAll(other)).reduce((sum, { events }) => sum + events.length, 0),
          50,
        )
      }
    })

    it('of a key, a member, a tracker, a sign-in or an entry refuses these or takes them along', async () => {
      for (let round = 0; round < rounds; round++) {
        const { store } = bench
        const { organisationId, trackerId } = await bench.createTracker()
        const member = await addJoined(bench, { organisationId })
        const { member: invited } = await addMember(bench, { organisationId })
        const known = newKey(bench, organisationId)
        await store.apiKeys.create(known, 'a'.repeat(64))
        const note = (kind: 'key.created' | 'member.signed-in' | 'tracker.created') =>
          memberNote(bench, organisationId, kind)
        const key = newKey(bench, organisationId)
        const id = bench.fresh('tracker')
        const [tokenHash, linkHash] = [bench.fresh('token'), bench.fresh('link')]
        const link = { tokenHash: linkHash, expiresAt: now + 1_000 }
        const signIn = { tokenHash, memberId: member.id, startedAt: now, lastSeenAt: now }
        const joining = {
          ...invited,
          id: bench.fresh('member'),
          email: `${bench.fresh('late')}@acme.example`,
        }
        const view = { organisationId, trackerId, since: 0 }
        const [, , , , , , , , isDeleted] = await Promise.all([
          store.apiKeys.create(key, 'b'.repeat(64), note('key.created')),
          store.members.create(joining, link, note('key.created')),
          store.trackers.create({ id, organisationId, name: id, createdAt: 1 }, note('tracker.created')),
          store.signIns.begin(signIn, now, note('member.signed-in')),
          store.activity.add(note('key.created')),
          store.apiKeys.revoke(known.id, now, note('key.created')),
          store.members.remove(organisationId, invited.id, note('key.created')),
          store.subjects.erase(view, 'anna', note('key.created')),
          deleteOrganisation(bench, organisationId),
        ])
        assert.equal(isDeleted, true)
        assert.deepEqual(await store.apiKeys.list(organisationId), [])
        assert.deepEqual(await store.members.list(organisationId), [])
        assert.deepEqual(await store.trackers.list(organisationId), [])
        assert.equal(await store.signIns.find(tokenHash), null)
        assert.equal(await store.trackers.find(id), null)
        await removeAll(bench, trackerId)
        await removeAll(bench, id)
      }
    })

    it('of a removal by another process is done once', async () => {
      const tracker = await bench.createTracker()
      const { trackerId } = tracker
      const rows = Array.from({ length: 600 }, (_, i) =>
        eventRow({ trackerId, subjectId: `s${i % 30}`, eventId: `e${i}` }),
      )
      await bench.store.ingest.ingest(rows)
      await deleteTracker(bench, tracker)
      const parts = await Promise.all([1, 2, 3].map(() => removeAll(bench, trackerId, 40)))
      assert.equal(
        parts.reduce((sum, { removed }) => sum + removed.events, 0),
        600,
      )
      assert.equal(
        parts.reduce((sum, { removed }) => sum + removed.subjects, 0),
        30,
      )
    })
  })
}
