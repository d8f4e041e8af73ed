import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ActivityKind } from '../../../src/domain/activity.ts'
import type { Member } from '../../../src/domain/member.ts'
import type { AnsweredChallenge, Proof } from '../../../src/domain/second-factor.ts'
import { type SignIn, type SignInMethod, signInMethods } from '../../../src/domain/sign-in.ts'
import type { SignInChallenge } from '../../../src/domain/sign-in-challenge.ts'
import type { SecondFactorRule } from '../../../src/domain/sign-in-rules.ts'
import { newSignIn } from '../../support/console.ts'
import { newPasskey } from '../../support/new-passkey.ts'
import { deleteOrganisation } from './deletion.ts'
import type { Fixture } from './fixture.ts'
import { addJoined, memberNote } from './member.ts'

const now = 1_794_000_000_000

/** The same contract for the fixture's store and for two processes that share a store. */
export function secondFactorContract(fixture: Fixture): void {
  const noteFor = ({ organisationId }: Member, kind: ActivityKind) =>
    memberNote(fixture, organisationId, kind)

  async function ask(member: Member, changes: Partial<SignInChallenge> = {}): Promise<SignInChallenge> {
    const challenge = {
      ...({ tokenHash: fixture.fresh('challenge'), kind: 'second-factor', memberId: member.id } as const),
      ...{ data: '{"a":1}', createdAt: now, expiresAt: now + 100, ...changes },
    }
    assert.equal(await fixture.store.signInChallenges.create(challenge), true)
    return challenge
  }

  async function addFactors(member: Member) {
    const codes = [fixture.fresh('code'), fixture.fresh('code')]
    const added = await addPasskey(member, { recoveryHashes: codes })
    assert.deepEqual(added.outcome, { codesAdded: true })
    const set = await setTotp(member, { recoveryHashes: ['never added'] })
    assert.deepEqual(set.outcome, { codesAdded: false })
    return { passkey: added.passkey, codes, app: set.app, by: set.by }
  }

  /** Adds a passkey in a sign-in, by default one that does not exist. */
  async function addPasskey(member: Member, { tokenHash = 'none', recoveryHashes = ['code'] } = {}) {
    const passkey = newPasskey(member.id, fixture.fresh('passkey'))
    const note = noteFor(member, 'member.passkey-added')
    const outcome = await fixture.store.passkeys.add(passkey, { tokenHash, recoveryHashes }, note)
    return { passkey, outcome }
  }

  const newApp = { sealedSecret: 'sealed', setAt: now, lastStep: 10 }

  async function setTotp(
    member: Member,
    { tokenHash = 'none', recoveryHashes = ['code'], app = newApp } = {},
  ) {
    const { tokenHash: challengeHash } = await ask(member, { kind: 'totp-registration' })
    const by = { tokenHash, challengeHash, recoveryHashes }
    const outcome = await fixture.store.totp.set(member.id, app, by, noteFor(member, 'member.totp-set'))
    return { app, by, outcome }
  }

  const signInWith = (
    member: Member,
    answered: AnsweredChallenge | null,
    changes: Partial<SignIn> = {},
  ): Promise<boolean> => {
    const signIn = { ...newSignIn(member.id, fixture.fresh('token'), now), ...changes }
    const note = noteFor(member, 'member.signed-in')
    return fixture.store.signIns.begin(signIn, member.passwordSetAt, note, { answered })
  }

  /** Signs a member in with every required step. Returns the hash of the token. */
  async function begin(member: Member): Promise<string> {
    const [tokenHash, { tokenHash: challengeHash }] = [fixture.fresh('token'), await ask(member)]
    const answered = { challengeHash, proof: { kind: 'password' } } as const
    assert.equal(await signInWith(member, answered, { tokenHash }), true)
    return tokenHash
  }

  /** The token hashes of a member's sign-ins. */
  const signInsOf = async ({ id }: Member) =>
    (await fixture.store.signIns.list(id)).map(({ tokenHash }) => tokenHash).toSorted()

  const requireFactor = async (member: Member, secondFactor: SecondFactorRule) => {
    const note = noteFor(member, 'sign-in-rules.changed')
    assert.ok(await fixture.store.signInRules.change(member.organisationId, { secondFactor }, note))
  }

  const countTrue = (results: readonly boolean[]) => results.filter(Boolean).length

  describe('a challenge', () => {
    it('is found with its member until it expires, only by its kind', async () => {
      const member = await addJoined(fixture)
      const challenge = await ask(member)
      const { signInChallenges } = fixture.store
      const { tokenHash } = challenge
      const found = await signInChallenges.find(tokenHash, 'second-factor', now + 99)
      assert.deepEqual(found?.challenge, challenge)
      assert.deepEqual(found?.of?.member, member)
      assert.equal(await signInChallenges.find(tokenHash, 'verification', now), null)
      assert.equal(await signInChallenges.find(tokenHash, 'second-factor', now + 100), null)
      assert.equal(await signInChallenges.take(tokenHash, 'verification', now), false)
      assert.equal(await signInChallenges.take(tokenHash, 'second-factor', now + 100), false)
      assert.equal(await signInChallenges.create({ ...challenge, memberId: 'nobody' }), false)
      await ask(member, { createdAt: now + 100, expiresAt: now + 200 })
      assert.equal(await signInChallenges.find(tokenHash, 'second-factor', now), null, 'it is deleted')
    })

    it('is accepted once if answered many times concurrently', async () => {
      const { tokenHash } = await ask(await addJoined(fixture))
      const taken = await Promise.all(
        Array.from({ length: 8 }, () => fixture.store.signInChallenges.take(tokenHash, 'second-factor', now)),
      )
      assert.equal(countTrue(taken), 1)
    })

    it('starts one sign-in, however often it is answered concurrently', async () => {
      const member = await addJoined(fixture)
      const { tokenHash: challengeHash } = await ask(member)
      const answered = { challengeHash, proof: { kind: 'password' } } as const
      const begun = await Promise.all(Array.from({ length: 8 }, () => signInWith(member, answered)))
      assert.equal(countTrue(begun), 1)
      assert.equal((await fixture.store.signIns.list(member.id)).length, 1)
    })
  })

  describe('a second factor', () => {
    it('is stored, renamed and removed by its own member; the recovery codes are removed with the last one', async () => {
      const [member, other] = [await addJoined(fixture), await addJoined(fixture)]
      const { passkeys, recoveryCodes, totp } = fixture.store
      const { passkey, app, by } = await addFactors(member)
      assert.deepEqual(await passkeys.list(member.id), [passkey])
      assert.deepEqual((await passkeys.find(passkey.id))?.member, member)
      assert.deepEqual(await totp.find(member.id), app)
      assert.equal(await recoveryCodes.count(member.id), 2)
      const note = () => noteFor(member, 'member.passkey-removed')
      const byOther = { tokenHash: await begin(other), recoveryHashes: [] }
      const elsewhere = await begin(other)
      assert.equal(await passkeys.add({ ...passkey, memberId: other.id }, byOther, note()), null)
      assert.deepEqual(await signInsOf(other), [byOther.tokenHash, elsewhere].toSorted())
      assert.equal(await totp.set(member.id, app, by, note()), null, 'the challenge was used')
      assert.equal(await passkeys.rename(other.id, passkey.id, 'Mine', note()), false)
      assert.equal(await passkeys.remove(other.id, passkey.id, note()), false)
      assert.equal(await passkeys.rename(member.id, passkey.id, 'Phone', note()), true)
      assert.equal((await passkeys.find(passkey.id))?.passkey.name, 'Phone')
      assert.equal(await passkeys.remove(member.id, passkey.id, note()), true)
      assert.equal(await recoveryCodes.count(member.id), 2)
      assert.equal(await totp.remove(member.id, note()), true)
      assert.equal(await totp.remove(member.id, note()), false)
      assert.equal(await recoveryCodes.count(member.id), 0)
    })

    for (const kind of ['totp', 'recovery-code', 'passkey'] as const) {
      it(`of the kind ${kind} is accepted once by many sign-ins with challenges of their own`, async () => {
        const member = await addJoined(fixture)
        const { codes, passkey } = await addFactors(member)
        const proofs: Record<typeof kind, Proof> = {
          totp: { kind: 'totp', step: 11, storedSecret: 'sealed', sealedSecret: 'sealed' },
          'recovery-code': { kind: 'recovery-code', hash: codes[0] ?? '' },
          passkey: { kind: 'passkey', id: passkey.id, signCount: 2 },
        }
        const challenges = await Promise.all(Array.from({ length: 8 }, () => ask(member)))
        const begun = await Promise.all(
          challenges.map(({ tokenHash }) =>
            signInWith(member, { challengeHash: tokenHash, proof: proofs[kind] }),
          ),
        )
        assert.equal(countTrue(begun), 1)
        const { tokenHash: challengeHash } = await ask(member)
        assert.equal(await signInWith(member, { challengeHash, proof: proofs[kind] }), false)
        assert.equal(await fixture.store.recoveryCodes.count(member.id), kind === 'recovery-code' ? 1 : 2)
      })
    }

    for (const [what, add] of [
      ['a passkey', addPasskey],
      ['an app', setTotp],
    ] as const) {
      it(`ends all other sign-ins of its member if it is the first: ${what}`, async () => {
        const [member, other] = [await addJoined(fixture), await addJoined(fixture)]
        const [tokenHash, foreign] = [await begin(member), await begin(other)]
        await begin(member)
        assert.ok((await add(member, { tokenHash })).outcome)
        assert.deepEqual(await signInsOf(member), [tokenHash])
        const later = await begin(member)
        for (const addNext of [addPasskey, setTotp]) assert.ok((await addNext(member, { tokenHash })).outcome)
        assert.deepEqual(await signInsOf(member), [tokenHash, later].toSorted())
        assert.deepEqual(await signInsOf(other), [foreign])
      })

      it(`lets a sign-in without it begin before, and end, or not begin: ${what}`, async () => {
        const members = await Promise.all(Array.from({ length: 12 }, () => addJoined(fixture)))
        await Promise.all(
          members.map(async (member) => {
            const tokenHash = await begin(member)
            const first = Array.from({ length: 3 }, () => signInWith(member, null))
            const added = add(member, { tokenHash })
            await Promise.all([...first, added, ...Array.from({ length: 3 }, () => signInWith(member, null))])
            assert.deepEqual(await signInsOf(member), [tokenHash])
          }),
        )
      })
    }

    it('ends all other sign-ins of its member if it is the first passkey where one is required', async () => {
      const member = await addJoined(fixture)
      const tokenHash = await begin(member)
      assert.ok((await setTotp(member, { tokenHash })).outcome)
      await requireFactor(member, 'passkey')
      const byCode = await begin(member)
      assert.ok((await setTotp(member, { tokenHash })).outcome)
      assert.deepEqual(await signInsOf(member), [tokenHash, byCode].toSorted(), 'another app ends none')
      assert.ok((await addPasskey(member, { tokenHash })).outcome)
      assert.deepEqual(await signInsOf(member), [tokenHash])
      const later = await begin(member)
      assert.ok((await addPasskey(member, { tokenHash })).outcome)
      assert.deepEqual(await signInsOf(member), [tokenHash, later].toSorted())
    })

    it('is required of every sign-in that starts with less', async () => {
      const member = await addJoined(fixture)
      const without = (method: SignInMethod) => signInWith(member, null, { method })
      for (const method of signInMethods) assert.equal(await without(method), true, method)
      await addFactors(member)
      const begins = async () => {
        const begun = []
        for (const method of signInMethods) if (await without(method)) begun.push(method)
        return begun
      }
      assert.deepEqual(await begins(), ['passkey', 'single-sign-on'])
      await requireFactor(member, 'passkey')
      assert.deepEqual(await begins(), ['passkey'])
    })

    it('that was replaced by another app is refused, and stays replaced', async () => {
      const member = await addJoined(fixture)
      await setTotp(member)
      const use = async (step: number, storedSecret: string) => {
        const { tokenHash: challengeHash } = await ask(member)
        const proof = { kind: 'totp', step, storedSecret, sealedSecret: 'sealed again' } as const
        return signInWith(member, { challengeHash, proof })
      }
      assert.equal(await use(11, 'sealed'), true)
      const resealed = { ...newApp, sealedSecret: 'sealed again', lastStep: 11 }
      assert.deepEqual(await fixture.store.totp.find(member.id), resealed)
      const { app } = await setTotp(member, { app: { ...newApp, sealedSecret: 'another' } })
      assert.equal(await use(12, 'sealed again'), false)
      assert.deepEqual(await fixture.store.totp.find(member.id), app)
    })

    it('of another member is refused', async () => {
      const [member, other] = [await addJoined(fixture), await addJoined(fixture)]
      const { codes, passkey } = await addFactors(member)
      const { tokenHash: challengeHash } = await ask(other)
      const foreign: Proof[] = [
        { kind: 'recovery-code', hash: codes[0] ?? '' },
        { kind: 'passkey', id: passkey.id, signCount: 2 },
        { kind: 'totp', step: 11, storedSecret: 'sealed', sealedSecret: 'sealed' },
      ]
      for (const proof of foreign)
        assert.equal(await signInWith(other, { challengeHash, proof }), false, proof.kind)
    })
  })

  describe('everything about signing in', () => {
    async function isGone(member: Member, challenge: SignInChallenge, passkeyId: string) {
      const { passkeys, recoveryCodes, signInChallenges, singleSignOn, totp } = fixture.store
      assert.equal(await passkeys.find(passkeyId), null)
      assert.equal(await totp.find(member.id), null)
      assert.equal(await recoveryCodes.count(member.id), 0)
      assert.equal(await signInChallenges.find(challenge.tokenHash, 'second-factor', now), null)
      assert.equal(await singleSignOn.accountOf(member.id), null)
    }

    async function connect(member: Member): Promise<void> {
      const account = { issuer: 'https://id.example', subject: fixture.fresh('subject') }
      const note = noteFor(member, 'member.connected')
      assert.equal(await fixture.store.singleSignOn.connect(member, account, note), true)
    }

    it('is removed with the member', async () => {
      const first = await addJoined(fixture)
      const member = await addJoined(fixture, { organisationId: first.organisationId })
      const { passkey } = await addFactors(member)
      await connect(member)
      const challenge = await ask(member)
      const note = noteFor(member, 'member.removed')
      const outcome = await fixture.store.members.remove(member.organisationId, member.id, note)
      assert.equal(outcome, 'removed')
      await isGone(member, challenge, passkey.id)
    })

    it('is removed with the organisation, with its rules', async () => {
      const member = await addJoined(fixture)
      const { organisationId } = member
      const { passkey } = await addFactors(member)
      await connect(member)
      const challenge = await ask(member)
      const { approvals, signInRules } = fixture.store
      const changed = noteFor(member, 'sign-in-rules.changed')
      assert.ok(await signInRules.change(organisationId, { secondFactor: 'passkey' }, changed))
      const capped = noteFor(member, 'organisation.approval-changed')
      assert.ok(await approvals.saveRule(organisationId, 5, capped))
      assert.equal(await deleteOrganisation(fixture, organisationId), true)
      await isGone(member, challenge, passkey.id)
      assert.equal((await signInRules.find(organisationId)).secondFactor, 'optional')
      assert.equal(await approvals.findRule(organisationId), null)
    })
  })

  describe('the rules of an organisation', () => {
    it('keep what a change does not name, even with two concurrent changes', async () => {
      const member = await addJoined(fixture)
      const { organisationId } = member
      const { signInRules } = fixture.store
      const change = (changes: Parameters<typeof signInRules.change>[1]) =>
        signInRules.change(organisationId, changes, noteFor(member, 'sign-in-rules.changed'))
      assert.ok(await change({ secondFactor: 'required' }))
      await Promise.all([
        change({ passwordAllowed: false }),
        change({ domains: ['acme.example'], domainRole: 'desk' }),
      ])
      assert.deepEqual(await signInRules.find(organisationId), {
        ...{ secondFactor: 'required', passwordAllowed: false },
        ...{ domains: ['acme.example'], domainRole: 'desk' },
      })
      const note = noteFor(member, 'sign-in-rules.changed')
      assert.equal(await signInRules.change('nowhere', { passwordAllowed: false }, note), false)
      assert.equal(await fixture.store.approvals.saveRule('nowhere', 1, note), false)
    })
  })
}
