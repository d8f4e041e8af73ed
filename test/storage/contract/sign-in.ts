import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Member } from '../../../src/domain/member.ts'
import { idleTimeoutMs, type SignIn } from '../../../src/domain/sign-in.ts'
import { newSignIn } from '../../support/console.ts'
import type { Fixture } from './fixture.ts'
import { addJoined, addMember, memberNote } from './member.ts'

const now = 1_794_000_000_000

export function signInContract(fixture: Fixture): void {
  const noteOf = ({ organisationId }: Member) => memberNote(fixture, organisationId, 'member.signed-in')

  async function begin(member: Member, startedAt = now): Promise<SignIn> {
    const signIn = newSignIn(member.id, fixture.fresh('token'), startedAt)
    assert.equal(await fixture.store.signIns.begin(signIn, member.passwordSetAt, noteOf(member)), true)
    return signIn
  }

  const isThere = async ({ tokenHash }: SignIn) => (await fixture.store.signIns.find(tokenHash)) !== null

  describe('a sign-in', () => {
    it('is found with its member and its organisation', async () => {
      const member = await addJoined(fixture)
      const signIn = await begin(member)
      const organisation = await fixture.store.organisations.find(member.organisationId)
      assert.deepEqual(await fixture.store.signIns.find(signIn.tokenHash), {
        ...{ signIn, member, organisation },
        missingFactor: null,
      })
      assert.equal(await fixture.store.signIns.find('nothing'), null)
    })

    it('shows the organisation’s current plan', async () => {
      const member = await addJoined(fixture)
      const { tokenHash } = await begin(member)
      await fixture.store.organisations.setPlan(member.organisationId, 'business')
      assert.equal((await fixture.store.signIns.find(tokenHash))?.organisation.plan, 'business')
    })

    it('does not start for a member who was removed, has no password, or has changed it', async () => {
      const member = await addJoined(fixture)
      const { member: invited } = await addMember(fixture)
      for (const [memberId, passwordSetAt] of [
        ['nobody', now],
        [invited.id, now],
        [member.id, now - 1],
      ] as const) {
        const signIn = newSignIn(memberId, fixture.fresh('token'), now)
        assert.equal(await fixture.store.signIns.begin(signIn, passwordSetAt, noteOf(member)), false)
        assert.equal(await isThere(signIn), false)
      }
    })

    it('updates its last-seen time only to a later one', async () => {
      const { tokenHash } = await begin(await addJoined(fixture))
      const seenAt = async () => (await fixture.store.signIns.find(tokenHash))?.signIn.lastSeenAt
      await fixture.store.signIns.touch(tokenHash, now + 500)
      await fixture.store.signIns.touch(tokenHash, now + 400)
      assert.equal(await seenAt(), now + 500)
      await fixture.store.signIns.touch('nothing', now)
    })

    it('ends once, without ending others', async () => {
      const member = await addJoined(fixture)
      const [first, second] = [await begin(member), await begin(member)]
      assert.equal(await fixture.store.signIns.end(first.tokenHash, noteOf(member)), true)
      assert.equal(await fixture.store.signIns.end(first.tokenHash, noteOf(member)), false)
      assert.equal(await isThere(first), false)
      assert.equal(await isThere(second), true)
    })

    it('replaces another one only if it starts', async () => {
      const [member, other] = [await addJoined(fixture), await addJoined(fixture)]
      const [former, bystander] = [await begin(other), await begin(member)]
      const again = newSignIn(member.id, fixture.fresh('token'), now)
      const replaces = { replaces: former.tokenHash }
      assert.equal(await fixture.store.signIns.begin(again, now - 1, noteOf(member), replaces), false)
      assert.equal(await isThere(former), true)
      assert.equal(await fixture.store.signIns.begin(again, now, noteOf(member), replaces), true)
      assert.deepEqual(
        [await isThere(former), await isThere(again), await isThere(bystander)],
        [false, true, true],
      )
    })

    it('is listed with the others of its member, which can be ended without it', async () => {
      const [member, other] = [await addJoined(fixture), await addJoined(fixture)]
      const [first, second, foreign] = [await begin(member), await begin(member), await begin(other)]
      const listed = await fixture.store.signIns.list(member.id)
      const byToken = (a: SignIn, b: SignIn) => (a.tokenHash < b.tokenHash ? -1 : 1)
      assert.deepEqual(listed.toSorted(byToken), [first, second].toSorted(byToken))
      await fixture.store.signIns.endOthers(member.id, first.tokenHash, noteOf(member))
      assert.deepEqual(await fixture.store.signIns.list(member.id), [first])
      assert.equal(await isThere(foreign), true)
    })

    it('ends with all others of its member, and no other member’s', async () => {
      const [member, other] = [await addJoined(fixture), await addJoined(fixture)]
      const [first, second, foreign] = [await begin(member), await begin(member), await begin(other)]
      await fixture.store.signIns.endAll(member.id, noteOf(member))
      assert.deepEqual(
        [await isThere(first), await isThere(second), await isThere(foreign)],
        [false, false, true],
      )
    })

    it('ends when its member sets a new password', async () => {
      const member = await addJoined(fixture)
      const signIn = await begin(member)
      const link = { tokenHash: fixture.fresh('link'), expiresAt: now + 1_000 }
      await fixture.store.members.invite(member.id, link, noteOf(member))
      assert.equal(await isThere(signIn), true)
      await fixture.store.members.setPassword(link.tokenHash, 'another', now + 1, noteOf(member))
      assert.equal(await isThere(signIn), false)
    })

    it('ends when its member is removed', async () => {
      const member = await addJoined(fixture)
      await addJoined(fixture, { organisationId: member.organisationId })
      const signIn = await begin(member)
      await fixture.store.members.remove(member.organisationId, member.id, noteOf(member))
      assert.equal(await isThere(signIn), false)
    })

    it('is gone in the end if its member is removed concurrently', async () => {
      const { organisationId } = await addJoined(fixture)
      const leavers = await Promise.all(
        Array.from({ length: 12 }, () => addJoined(fixture, { organisationId })),
      )
      await Promise.all(
        leavers.map(async (member) => {
          const signIns = Array.from({ length: 4 }, () => newSignIn(member.id, fixture.fresh('token'), now))
          const [outcome] = await Promise.all([
            fixture.store.members.remove(organisationId, member.id, noteOf(member)),
            ...signIns.map((signIn) =>
              fixture.store.signIns.begin(signIn, member.passwordSetAt, noteOf(member)),
            ),
          ])
          assert.equal(outcome, 'removed')
          for (const signIn of signIns) assert.equal(await isThere(signIn), false)
        }),
      )
    })

    it('is deleted after long inactivity when another starts', async () => {
      const member = await addJoined(fixture)
      const [idle, awake, touched] = [
        await begin(member, now),
        await begin(member, now + 1),
        await begin(member, now - 5),
      ]
      await fixture.store.signIns.touch(touched.tokenHash, now + 1)
      await begin(member, now + idleTimeoutMs)
      assert.deepEqual(
        [await isThere(idle), await isThere(awake), await isThere(touched)],
        [false, true, true],
      )
    })

    it('is deleted when another starts if it is dated far in the future', async () => {
      const member = await addJoined(fixture)
      const [far, near] = [await begin(member, now + 365 * idleTimeoutMs), await begin(member, now)]
      await begin(member, now + 1)
      assert.deepEqual([await isThere(far), await isThere(near)], [false, true])
    })

    it('is recorded when it starts and when it ends', async () => {
      const member = await addJoined(fixture)
      const { tokenHash } = await begin(member)
      await fixture.store.signIns.end(
        tokenHash,
        memberNote(fixture, member.organisationId, 'member.signed-out'),
      )
      const everywhere = memberNote(fixture, member.organisationId, 'member.signed-out-everywhere')
      await fixture.store.signIns.endAll(member.id, everywhere)
      const query = { limit: 200, after: null, requestId: null }
      const { rows } = await fixture.store.activity.list(member.organisationId, query)
      assert.deepEqual(rows.map(({ kind }) => kind).sort(), [
        'member.invited',
        'member.joined',
        'member.signed-in',
        'member.signed-out',
        'member.signed-out-everywhere',
      ])
    })
  })
}
