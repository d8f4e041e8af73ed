import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ActivityKind, ActivityNote } from '../../../src/domain/activity.ts'
import type { Invitation, Member, Role } from '../../../src/domain/member.ts'
import { newSignIn } from '../../support/console.ts'
import { newPasskey } from '../../support/new-passkey.ts'
import type { Fixture } from './fixture.ts'

const now = 1_794_000_000_000
const passwordHash = 'scrypt$1$1$1$salt$hash'

/** A note for a change; these tests only count the notes. */
export function memberNote(fixture: Fixture, organisationId: string, kind: ActivityKind): ActivityNote {
  const actor = { kind: 'command-line' } as const
  return { id: fixture.fresh('entry'), organisationId, at: now, actor, kind, target: null, requestId: null }
}

/** Adds a member with an invitation. */
export async function addMember(
  fixture: Fixture,
  fields: Partial<Member> = {},
): Promise<{ member: Member; link: Invitation }> {
  const organisationId = fields.organisationId ?? (await fixture.createOrganisation())
  const id = fixture.fresh('member')
  const member = {
    id,
    email: `${id}@acme.example`,
    role: 'admin' as const,
    createdAt: now,
    passwordSetAt: null,
    isConnected: false,
    language: null,
    ...fields,
    organisationId,
  }
  const link = { tokenHash: fixture.fresh('token-hash'), expiresAt: now + 1_000 }
  assert.equal(
    await fixture.store.members.create(member, link, memberNote(fixture, organisationId, 'member.invited')),
    true,
  )
  return { member, link }
}

/** Adds a member who set a password at `now`. */
export async function addJoined(fixture: Fixture, fields: Partial<Member> = {}): Promise<Member> {
  const { member, link } = await addMember(fixture, fields)
  const note = memberNote(fixture, member.organisationId, 'member.joined')
  assert.equal(await fixture.store.members.setPassword(link.tokenHash, passwordHash, now, note), true)
  return { ...member, passwordSetAt: now }
}

export async function kindsOf(fixture: Fixture, organisationId: string): Promise<string[]> {
  const { rows } = await fixture.store.activity.list(organisationId, {
    limit: 200,
    after: null,
    requestId: null,
  })
  return rows.map(({ kind }) => kind).sort()
}

export function memberContract(fixture: Fixture): void {
  describe('a member', () => {
    it('is found as it was stored, only in its organisation', async () => {
      const { member } = await addMember(fixture, { email: `"o'neill"+🦦@acme.example` })
      const other = await fixture.createOrganisation()
      assert.deepEqual(await fixture.store.members.find(member.organisationId, member.id), member)
      assert.equal(await fixture.store.members.find(other, member.id), null)
      assert.equal(await fixture.store.members.find(member.organisationId, 'nobody'), null)
      assert.deepEqual(await kindsOf(fixture, member.organisationId), ['member.invited'])
    })

    it('has an address that is unique in its organisation', async () => {
      const { member } = await addMember(fixture)
      const { organisationId, email } = member
      const link = { tokenHash: fixture.fresh('token-hash'), expiresAt: now }
      const second = { ...member, id: fixture.fresh('member') }
      const note = memberNote(fixture, organisationId, 'member.invited')
      assert.equal(await fixture.store.members.create(second, link, note), false)
      assert.deepEqual(await fixture.store.members.list(organisationId), [member])
      assert.deepEqual(await kindsOf(fixture, organisationId), ['member.invited'])
      await addMember(fixture, { email })
    })

    it('cannot be stored for an organisation that does not exist', async () => {
      const { member } = await addMember(fixture)
      const link = { tokenHash: fixture.fresh('token-hash'), expiresAt: now }
      const note = memberNote(fixture, await fixture.createOrganisation(), 'member.invited')
      const nobody = { ...member, id: fixture.fresh('member'), organisationId: 'nobody' }
      const created = await fixture.store.members.create(nobody, link, note)
      assert.equal(created, false)
    })

    it('is listed with all others of its organisation, oldest first, ties by ID', async () => {
      const organisationId = await fixture.createOrganisation()
      const add = async (id: string, createdAt: number) =>
        (await addMember(fixture, { id: fixture.fresh(id), organisationId, createdAt })).member
      const [young, twinB, twinA, old] = [
        await add('young', now + 1),
        await add('b', now),
        await add('a', now),
        await add('old', now - 1),
      ]
      await addMember(fixture)
      assert.deepEqual(await fixture.store.members.list(organisationId), [old, twinA, twinB, young])
      assert.deepEqual(await fixture.store.members.list('nobody'), [])
    })

    it('is found by its address, without an organisation only if a single one has it', async () => {
      const member = await addJoined(fixture)
      const { email, organisationId } = member
      const found = { member, passwordHash }
      assert.deepEqual(await fixture.store.members.findByEmail(email, null), found)
      assert.deepEqual(await fixture.store.members.findByEmail(email, organisationId), found)
      assert.equal(await fixture.store.members.findByEmail(email, 'nobody'), null)
      assert.equal(await fixture.store.members.findByEmail('nobody@acme.example', null), null)
      const { member: twin } = await addMember(fixture, { email })
      assert.equal(await fixture.store.members.findByEmail(email, null), null)
      assert.deepEqual(await fixture.store.members.findByEmail(email, organisationId), found)
      assert.deepEqual(await fixture.store.members.findByEmail(email, twin.organisationId), {
        member: twin,
        passwordHash: null,
      })
    })
  })

  describe('a link to set a password', () => {
    it('leads to its member until it expires', async () => {
      const { member, link } = await addMember(fixture)
      assert.deepEqual(await fixture.store.members.findInvited(link.tokenHash, now), member)
      assert.deepEqual(await fixture.store.members.findInvited(link.tokenHash, link.expiresAt - 1), member)
      assert.equal(await fixture.store.members.findInvited(link.tokenHash, link.expiresAt), null)
      assert.equal(await fixture.store.members.findInvited('nothing', now), null)
    })

    it('sets a password once', async () => {
      const { member, link } = await addMember(fixture)
      const note = () => memberNote(fixture, member.organisationId, 'member.joined')
      assert.equal(
        await fixture.store.members.setPassword(link.tokenHash, passwordHash, now + 5, note()),
        true,
      )
      assert.equal(await fixture.store.members.setPassword(link.tokenHash, 'other', now + 6, note()), false)
      assert.equal(await fixture.store.members.findInvited(link.tokenHash, now), null)
      assert.deepEqual(await fixture.store.members.findByEmail(member.email, member.organisationId), {
        member: { ...member, passwordSetAt: now + 5 },
        passwordHash,
      })
      assert.deepEqual(await kindsOf(fixture, member.organisationId), ['member.invited', 'member.joined'])
    })

    it('sets none from the instant it expires', async () => {
      const { member, link } = await addMember(fixture)
      const note = memberNote(fixture, member.organisationId, 'member.joined')
      assert.equal(await fixture.store.members.setPassword(link.tokenHash, 'x', link.expiresAt, note), false)
      assert.deepEqual(await fixture.store.members.find(member.organisationId, member.id), member)
      assert.deepEqual(await kindsOf(fixture, member.organisationId), ['member.invited'])
    })

    it('sets one password if used many times concurrently', async () => {
      const { member, link } = await addMember(fixture)
      const set = await Promise.all(
        Array.from({ length: 10 }, (_, i) =>
          fixture.store.members.setPassword(
            link.tokenHash,
            `hash-${i}`,
            now,
            memberNote(fixture, member.organisationId, 'member.joined'),
          ),
        ),
      )
      assert.equal(set.filter(Boolean).length, 1)
    })

    it('is replaced by a new one, for existing members', async () => {
      const { member, link } = await addMember(fixture)
      const note = () => memberNote(fixture, member.organisationId, 'member.invited')
      const other = { tokenHash: fixture.fresh('token-hash'), expiresAt: now + 9_000 }
      assert.equal(await fixture.store.members.invite(member.id, other, note()), true)
      assert.equal(await fixture.store.members.findInvited(link.tokenHash, now), null)
      assert.deepEqual(await fixture.store.members.findInvited(other.tokenHash, now + 5_000), member)
      assert.equal(await fixture.store.members.invite('nobody', { ...other, tokenHash: 'x' }, note()), false)
      assert.equal((await kindsOf(fixture, member.organisationId)).length, 2)
    })
  })

  describe('the role of a member', () => {
    const setRole = (member: Member, to: Role, from = member.role) => {
      const { organisationId, id } = member
      const note = memberNote(fixture, organisationId, 'member.role-changed')
      return fixture.store.members.setRole({ organisationId, id }, { from, to }, note)
    }

    it('is changed only within its organisation and from the expected role, with a note', async () => {
      const { member: admin } = await addMember(fixture)
      const { organisationId } = admin
      const { member } = await addMember(fixture, { organisationId, role: 'viewer' })
      const other = await fixture.createOrganisation()
      assert.equal(await setRole({ ...member, organisationId: other }, 'desk'), 'absent')
      assert.equal(await setRole(member, 'desk', 'admin'), 'absent')
      assert.equal(await setRole({ ...member, id: 'nobody' }, 'desk'), 'absent')
      assert.equal(await setRole(member, 'desk'), 'changed')
      const changed = { ...member, role: 'desk' }
      assert.deepEqual(await fixture.store.members.find(organisationId, member.id), changed)
      assert.deepEqual(await kindsOf(fixture, organisationId), [
        ...['member.invited', 'member.invited', 'member.role-changed'],
      ])
    })

    it('is read with each sign-in, and only a higher one needs a new proof of identity', async () => {
      const { member: admin } = await addMember(fixture)
      const member = await addJoined(fixture, { organisationId: admin.organisationId, role: 'desk' })
      const signIn = newSignIn(member.id, fixture.fresh('token'), now)
      const note = memberNote(fixture, member.organisationId, 'member.signed-in')
      await fixture.store.signIns.begin(signIn, member.passwordSetAt, note)
      const seen = async () => {
        const found = await fixture.store.signIns.find(signIn.tokenHash)
        return [found?.member.role, found?.signIn.verifiedAt]
      }
      await setRole(member, 'viewer')
      assert.deepEqual(await seen(), ['viewer', now])
      await setRole({ ...member, role: 'viewer' }, 'admin')
      assert.deepEqual(await seen(), ['admin', 0])
    })

    it('stays admin for the last admin if all are demoted and removed concurrently', async () => {
      const organisationId = await fixture.createOrganisation()
      const all = await Promise.all(Array.from({ length: 6 }, () => addJoined(fixture, { organisationId })))
      const outcomes = await Promise.all(
        all.map((member, i) =>
          i % 2 === 0
            ? setRole(member, 'viewer')
            : fixture.store.members.remove(
                organisationId,
                member.id,
                memberNote(fixture, organisationId, 'member.removed'),
              ),
        ),
      )
      assert.equal(outcomes.filter((outcome) => outcome === 'last').length, 1)
      const left = await fixture.store.members.list(organisationId)
      assert.equal(left.filter(({ role }) => role === 'admin').length, 1)
    })
  })

  describe('removing a member', () => {
    it('keeps the others, and adds a note', async () => {
      const first = await addJoined(fixture)
      const { organisationId } = first
      const second = await addJoined(fixture, { organisationId })
      const note = () => memberNote(fixture, organisationId, 'member.removed')
      assert.equal(await fixture.store.members.remove(organisationId, second.id, note()), 'removed')
      assert.equal(await fixture.store.members.remove(organisationId, second.id, note()), 'absent')
      assert.deepEqual(await fixture.store.members.list(organisationId), [first])
      assert.equal(
        (await kindsOf(fixture, organisationId)).filter((kind) => kind === 'member.removed').length,
        1,
      )
      await addMember(fixture, { organisationId, email: second.email })
    })

    it('never removes the last admin, or the last admin who can sign in', async () => {
      const admin = await addJoined(fixture)
      const { organisationId } = admin
      const note = () => memberNote(fixture, organisationId, 'member.removed')
      const { member: invited } = await addMember(fixture, { organisationId })
      const desk = await addJoined(fixture, { organisationId, role: 'desk' })
      const remove = (id: string) => fixture.store.members.remove(organisationId, id, note())
      assert.equal(await remove(admin.id), 'last')
      assert.equal(await remove(desk.id), 'removed')
      assert.equal(await remove(invited.id), 'removed')
      assert.equal(await remove(admin.id), 'last')
      assert.deepEqual(await fixture.store.members.list(organisationId), [admin])
    })

    it('counts an admin as one who can sign in by single sign-on, by passkey, and by password only if it is accepted', async () => {
      const organisationId = await fixture.createOrganisation()
      const { members, passkeys, signInRules, singleSignOn } = fixture.store
      const note = (kind: ActivityKind) => memberNote(fixture, organisationId, kind)
      const remove = ({ id }: Member) => members.remove(organisationId, id, note('member.removed'))
      const { member: connected } = await addMember(fixture, { organisationId })
      const account = { issuer: 'https://id.example', subject: fixture.fresh('subject') }
      assert.ok(await singleSignOn.connect(connected, account, note('member.connected')))
      const { member: invited } = await addMember(fixture, { organisationId })
      const byPassword = await addJoined(fixture, { organisationId })
      assert.equal(await remove(byPassword), 'removed', 'the connected admin is enough')
      assert.equal(await remove(connected), 'last', 'an invited admin is not')

      const other = await addJoined(fixture, { organisationId })
      await signInRules.change(organisationId, { passwordAllowed: false }, note('sign-in-rules.changed'))
      const demotion = { from: 'admin', to: 'viewer' } as const
      const role = note('member.role-changed')
      assert.equal(await members.setRole({ organisationId, id: connected.id }, demotion, role), 'last')
      assert.equal(await remove(connected), 'last', 'a password that is not accepted is not enough')
      const key = newPasskey(other.id, fixture.fresh('passkey'))
      assert.ok(
        await passkeys.add(key, { tokenHash: 'none', recoveryHashes: [] }, note('member.passkey-added')),
      )
      assert.equal(await remove(connected), 'removed', 'a passkey is')
      assert.equal(await remove(other), 'last')
      assert.equal(await remove(invited), 'removed')
    })

    it('never removes the last admin if all are removed concurrently', async () => {
      const organisationId = await fixture.createOrganisation()
      const all = await Promise.all(Array.from({ length: 5 }, () => addMember(fixture, { organisationId })))
      const outcomes = await Promise.all(
        all.map(({ member }) =>
          fixture.store.members.remove(
            organisationId,
            member.id,
            memberNote(fixture, organisationId, 'member.removed'),
          ),
        ),
      )
      assert.deepEqual(outcomes.toSorted(), ['last', 'removed', 'removed', 'removed', 'removed'])
      assert.equal((await fixture.store.members.list(organisationId)).length, 1)
    })

    it('does not affect another organisation', async () => {
      const { member } = await addMember(fixture)
      await addMember(fixture, { organisationId: member.organisationId })
      const other = await fixture.createOrganisation()
      const note = memberNote(fixture, other, 'member.removed')
      assert.equal(await fixture.store.members.remove(other, member.id, note), 'absent')
      assert.equal((await fixture.store.members.list(member.organisationId)).length, 2)
    })
  })
}
