import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newSignIn } from '../../support/console.ts'
import { eventRow } from '../../support/rows.ts'
import { eraseIn, testKeys } from '../../support/test-keyring.ts'
import { deleteOrganisation, deleteTracker, newKey, removeAll } from './deletion.ts'
import type { Fixture } from './fixture.ts'
import { addJoined, addMember, memberNote } from './member.ts'

const now = 1_794_000_000_000
const rounds = 2

/** Rows added while their tracker or organisation is deleted are either deleted with it or refused. */
export function deletionRaceContract(fixture: Fixture): void {
  describe('a deletion', () => {
    it('leaves nothing of a concurrent import, without errors', async () => {
      for (let round = 0; round < rounds; round++) {
        const { store } = fixture
        const tracker = await fixture.createTracker()
        const other = await fixture.createTracker(tracker.organisationId)
        const batch = (n: number) =>
          Array.from({ length: 60 }, (_, i) =>
            eventRow({
              trackerId: i % 6 === 0 ? other.trackerId : tracker.trackerId,
              subjectId: `s${i % 7}`,
              eventId: `e${n}-${i}`,
            }),
          )
        await store.ingest.ingest(batch(0), testKeys)
        const imports = [1, 2, 3, 4].map((n) => store.ingest.ingest(batch(n), testKeys))
        const [isDeleted, ...added] = await Promise.all([deleteTracker(fixture, tracker), ...imports])
        assert.equal(isDeleted, true)
        for (const { events, refused = [] } of added) {
          assert.equal(events + refused.reduce((sum, { rows }) => sum + rows, 0), 60)
        }
        const held = await store.deletions.count(tracker.trackerId)
        const { removed } = await removeAll(fixture, tracker.trackerId, 50)
        assert.deepEqual(removed, held)
        assert.equal(
          (await fixture.readAll(other)).reduce((sum, { events }) => sum + events.length, 0),
          50,
        )
      }
    })

    it('refuses or deletes a key, member, tracker, sign-in or entry that is added at the same time', async () => {
      for (let round = 0; round < rounds; round++) {
        const { store } = fixture
        const { organisationId, trackerId } = await fixture.createTracker()
        const member = await addJoined(fixture, { organisationId })
        const { member: invited } = await addMember(fixture, { organisationId })
        const known = newKey(fixture, organisationId)
        await store.apiKeys.create(known, 'a'.repeat(64))
        const note = (kind: 'key.created' | 'member.signed-in' | 'tracker.created') =>
          memberNote(fixture, organisationId, kind)
        const key = newKey(fixture, organisationId)
        const id = fixture.fresh('tracker')
        const [tokenHash, linkHash] = [fixture.fresh('token'), fixture.fresh('link')]
        const link = { tokenHash: linkHash, expiresAt: now + 1_000 }
        const signIn = newSignIn(member.id, tokenHash, now)
        const joining = {
          ...invited,
          id: fixture.fresh('member'),
          email: `${fixture.fresh('late')}@acme.example`,
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
          eraseIn(store, view, 'anna', note('key.created')),
          deleteOrganisation(fixture, organisationId),
        ])
        assert.equal(isDeleted, true)
        assert.deepEqual(await store.apiKeys.list(organisationId), [])
        assert.deepEqual(await store.members.list(organisationId), [])
        assert.deepEqual(await store.trackers.list(organisationId), [])
        assert.equal(await store.signIns.find(tokenHash), null)
        assert.equal(await store.trackers.find(id), null)
        await removeAll(fixture, trackerId)
        await removeAll(fixture, id)
      }
    })

    it('is carried out once by two processes', async () => {
      const tracker = await fixture.createTracker()
      const { trackerId } = tracker
      const rows = Array.from({ length: 200 }, (_, i) =>
        eventRow({ trackerId, subjectId: `s${i % 10}`, eventId: `e${i}` }),
      )
      await fixture.ingest(rows)
      await deleteTracker(fixture, tracker)
      const parts = await Promise.all([1, 2, 3].map(() => removeAll(fixture, trackerId, 40)))
      assert.equal(
        parts.reduce((sum, { removed }) => sum + removed.events, 0),
        200,
      )
      assert.equal(
        parts.reduce((sum, { removed }) => sum + removed.subjects, 0),
        10,
      )
    })
  })
}
