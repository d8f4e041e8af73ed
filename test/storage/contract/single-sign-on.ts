import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Member, Role } from '../../../src/domain/member.ts'
import { defaultSignInRules } from '../../../src/domain/sign-in-rules.ts'
import { newSignIn } from '../../support/console.ts'
import type { Fixture } from './fixture.ts'
import { addMember, memberNote } from './member.ts'

const issuer = 'https://id.example'

export function singleSignOnContract(fixture: Fixture): void {
  const store = () => fixture.store.singleSignOn
  const account = () => ({ issuer, subject: fixture.fresh('subject') })
  const joining = (organisationId: string, email: string, role: Role = 'viewer'): Member => ({
    ...{ id: fixture.fresh('mem'), organisationId, email, role, createdAt: 1, passwordSetAt: null },
    isConnected: true,
    language: null,
  })
  const note = (organisationId: string) => memberNote(fixture, organisationId, 'member.joined')

  describe('the account of a member', () => {
    it('is connected once, ends the invitation, and then finds the member', async () => {
      const { member, link } = await addMember(fixture)
      const { organisationId, email } = member
      const [first, second] = [account(), account()]
      const found = await store().find(first, email, null)
      assert.deepEqual(found, [{ member, passwordHash: null, account: null }])
      assert.equal(
        await store().connect({ ...member, organisationId: 'other' }, first, note(organisationId)),
        false,
      )
      assert.equal(await store().connect(member, first, note(organisationId)), true)
      assert.equal(await store().connect(member, second, note(organisationId)), false)
      assert.deepEqual(await store().accountOf(member.id), first)
      assert.equal(await fixture.store.members.findInvited(link.tokenHash, 0), null)
      const [connected] = await store().find(first, null, organisationId)
      assert.equal(connected?.member.id, member.id)
      assert.deepEqual(connected?.account, first)
      assert.deepEqual(await store().find({ ...first, issuer: 'https://other.example' }, null, null), [])
      assert.deepEqual(await store().find(second, null, null), [])
    })

    it('belongs to one member of an organisation', async () => {
      const { member: first } = await addMember(fixture)
      const { organisationId } = first
      const { member: second } = await addMember(fixture, { organisationId })
      const own = account()
      assert.equal(await store().connect(first, own, note(organisationId)), true)
      assert.equal(await store().connect(second, own, note(organisationId)), false)
    })

    it('is connected once, of two concurrent attempts', async () => {
      const { member } = await addMember(fixture)
      const same = account()
      const results = await Promise.all(
        [same, account()].map((each) => store().connect(member, each, note(member.organisationId))),
      )
      assert.deepEqual(results.sort(), [false, true])
    })

    it('adds a member on joining, unless the organisation has the address or the account', async () => {
      const { member } = await addMember(fixture)
      const { organisationId } = member
      const own = account()
      const ada = joining(organisationId, fixture.fresh('ada@acme.example'), 'desk')
      assert.equal(await store().join(ada, own, note(organisationId)), true)
      const joined = await fixture.store.members.find(organisationId, ada.id)
      assert.equal(joined?.role, 'desk')
      for (const [again, as] of [
        [joining(organisationId, ada.email), account()],
        [joining(organisationId, fixture.fresh('bob@acme.example')), own],
        [joining('nowhere', ada.email), own],
      ] as const) {
        assert.equal(await store().join(again, as, note(organisationId)), false)
      }
      const other = await fixture.createOrganisation()
      assert.equal(await store().join(joining(other, ada.email), own, note(other)), true)
      assert.equal((await store().find(own, ada.email, null)).length, 2)
    })

    it('is disconnected with all sign-ins of the member', async () => {
      const { member } = await addMember(fixture)
      const { organisationId, id } = member
      const own = account()
      await store().connect(member, own, note(organisationId))
      const signIn = newSignIn(id, fixture.fresh('token'), 1_794_000_000_000)
      assert.ok(await fixture.store.signIns.begin(signIn, null, note(organisationId)))
      assert.equal(await store().disconnect('other', id, note(organisationId)), false)
      assert.equal(await store().disconnect(organisationId, id, note(organisationId)), true)
      assert.equal(await store().disconnect(organisationId, id, note(organisationId)), false)
      assert.equal(await fixture.store.signIns.find(signIn.tokenHash), null)
      assert.equal(await store().accountOf(id), null)
    })
  })

  describe('organisations that a domain may join', () => {
    it('are those that name it exactly, and exist', async () => {
      const domain = `${fixture
        .fresh('d')
        .toLowerCase()
        .replaceAll(/[^a-z0-9]/g, '')}.example`
      const [first, second, third] = [
        await fixture.createOrganisation(),
        await fixture.createOrganisation(),
        await fixture.createOrganisation(),
      ]
      const allow = (id: string, domains: string[]) =>
        fixture.store.signInRules.change(
          id,
          { ...defaultSignInRules, domains, domainRole: 'desk' },
          memberNote(fixture, id, 'sign-in-rules.changed'),
        )
      await allow(first, ['other.example', domain])
      await allow(second, [domain])
      await allow(third, [`eu.${domain}`, `x${domain}`])
      const ids = async (organisationId: string | null = null) =>
        (await store().findOpen(domain, organisationId)).map(({ organisation }) => organisation.id)
      assert.deepEqual((await ids()).sort(), [first, second].sort())
      assert.deepEqual(await ids(second), [second])
      assert.deepEqual(await ids(third), [])
      assert.equal((await store().findOpen(domain, first))[0]?.role, 'desk')
      await allow(second, [])
      assert.deepEqual(await ids(), [first])
    })
  })
}
