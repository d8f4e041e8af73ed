import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newSignIn } from '../../support/console.ts'
import { newApiKey } from '../../support/new-api-key.ts'
import { eventRow } from '../../support/rows.ts'
import { eraseIn, testKeys } from '../../support/test-keyring.ts'
import { keeping, rememberWindows } from '../../support/windows.ts'
import type { Fixture } from './fixture.ts'
import { addJoined, memberNote } from './member.ts'

const now = 1_794_000_000_000
const hash = '07'.repeat(32)

export function concurrentChangesContract(fixture: Fixture): void {
  async function changeKey(organisationId: string): Promise<void> {
    const { apiKeys } = fixture.store
    const id = fixture.fresh('key')
    const key = newApiKey({ id, organisationId, scopes: [], createdAt: now })
    assert.equal(await apiKeys.create(key, hash), true)
    await apiKeys.touch(new Map([[id, now]]))
    assert.ok((await apiKeys.rotate(id, { hash, lastFour: 'abcd' }, now)) !== null)
    assert.equal(await apiKeys.revoke(id, now, memberNote(fixture, organisationId, 'key.revoked')), true)
  }

  async function changeMember(organisationId: string): Promise<void> {
    const { members, signIns } = fixture.store
    const member = await addJoined(fixture, { organisationId })
    const note = () => memberNote(fixture, organisationId, 'member.signed-in')
    const tokenHash = fixture.fresh('token')
    const signIn = newSignIn(member.id, tokenHash, now)
    assert.equal(await signIns.begin(signIn, now, note()), true)
    await signIns.touch(tokenHash, now + 1)
    assert.equal(await signIns.end(tokenHash, note()), true)
    const link = { tokenHash: fixture.fresh('link'), expiresAt: now + 1_000 }
    assert.equal(await members.invite(member.id, link, note()), true)
  }

  async function changeTracker(organisationId: string): Promise<void> {
    const { trackers, ingest, subjects, deletions } = fixture.store
    const view = await fixture.createTracker(organisationId)
    const { trackerId } = view
    const note = () => memberNote(fixture, organisationId, 'tracker.renamed')
    assert.equal(await trackers.rename(view, 'another', note()), true)
    const row = eventRow({ trackerId, subjectId: 'ada', eventId: 'e', occurredAt: now })
    assert.equal((await ingest.ingest([row], testKeys)).events, 1)
    assert.deepEqual(await eraseIn({ subjects }, view, 'ada', note()), { sessions: 1, events: 1 })
    assert.equal(await deletions.deleteTracker(view, 'another', now, note()), true)
    assert.equal((await deletions.removeTracker(trackerId, 1_000)).isDone, true)
  }

  describe('concurrent changes', () => {
    it('of keys, members, trackers and data in one organisation all succeed', async () => {
      const organisationId = await fixture.createOrganisation()
      const changes = [changeKey, changeMember, changeTracker, changeKey, changeMember, changeTracker]
      await Promise.all([
        ...[...changes, ...changes].map((change) => change(organisationId)),
        ...changes.map(async () =>
          rememberWindows(fixture.store, keeping(2), await fixture.createOrganisation()),
        ),
      ])
    })
  })
}
