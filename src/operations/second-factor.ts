import type { ActivityStore, Origin } from '../domain/activity.ts'
import { LetheError, notFound } from '../domain/errors.ts'
import type { Clock, Instant } from '../domain/instant.ts'
import type { Keyring } from '../domain/keyring.ts'
import type { Member, MemberStore } from '../domain/member.ts'
import type { Passkey, PasskeyStore, RelyingParty } from '../domain/passkey.ts'
import type { Passwords } from '../domain/password.ts'
import { createToken, hashToken, type Randomness } from '../domain/randomness.ts'
import { hashRecoveryCode, type RecoveryCodeStore } from '../domain/recovery-code.ts'
import { type Proof, type ProofKind, proofNames, type SecondFactorStore } from '../domain/second-factor.ts'
import {
  type ChallengeKind,
  challengeMs,
  type MemberSecrets,
  type SignInChallengeStore,
} from '../domain/sign-in-challenge.ts'
import type { SecondFactorRule, SignInRulesStore } from '../domain/sign-in-rules.ts'
import type { Totp, TotpStore } from '../domain/totp.ts'
import {
  type AuthenticationResponse,
  checkAuthentication,
  type RequestOptions,
  requestOptions,
} from '../factors/passkey-ceremony.ts'
import { acceptedStep } from '../factors/totp-codes.ts'
import { activityNote } from './activity.ts'

export interface FactorDeps {
  passkeys: PasskeyStore
  totp: TotpStore
  recoveryCodes: RecoveryCodeStore
  signInRules: SignInRulesStore
  signInChallenges: SignInChallengeStore
  activity: ActivityStore
  keyring: Pick<Keyring, 'openTotpSecret' | 'sealTotpSecret'>
  clock: Clock
  randomness: Randomness
}

/** Everything that a member can prove their identity with, besides the password. */
interface FactorsOfMember {
  rule: SecondFactorRule
  passkeys: Passkey[]
  totp: Totp | null
  /** How many are left. */
  recoveryCodes: number
}

export async function factorsOf(
  { passkeys, totp, recoveryCodes, signInRules }: FactorDeps,
  { id, organisationId }: Member,
): Promise<FactorsOfMember> {
  const [rules, own, app, codes] = await Promise.all([
    signInRules.find(organisationId),
    passkeys.list(id),
    totp.find(id),
    recoveryCodes.count(id),
  ])
  return { rule: rules.secondFactor, passkeys: own, totp: app, recoveryCodes: codes }
}

/** The proofs that count as a second factor. */
export function secondProofs({ rule, passkeys, totp, recoveryCodes }: FactorsOfMember): ProofKind[] {
  const proofs: ProofKind[] = []
  if (passkeys.length > 0) proofs.push('passkey')
  if (totp && !(rule === 'passkey' && passkeys.length > 0)) proofs.push('totp')
  if (recoveryCodes > 0 && proofs.length > 0) proofs.push('recovery-code')
  return proofs
}

/** What a page needs to ask a member for a proof. */
export interface ProofPrompt {
  /** Goes back with the answer, once. */
  token: string
  proofs: ProofKind[]
  /** For the browser, if a passkey is among the proofs. */
  passkey: RequestOptions | null
}

/** Makes a challenge for a member. `null` if the member was removed. */
export async function promptFor(
  { signInChallenges, clock, randomness }: Pick<FactorDeps, 'signInChallenges' | 'clock' | 'randomness'>,
  { kind, memberId, data = null }: { kind: ChallengeKind; memberId: string; data?: unknown },
  proofs: ProofKind[],
  passkeys: readonly Passkey[],
  relyingParty: RelyingParty | null,
): Promise<ProofPrompt | null> {
  const token = createToken(randomness)
  const createdAt = clock()
  const isCreated = await signInChallenges.create({
    ...{ tokenHash: hashToken(token), kind, memberId, data: JSON.stringify(data) },
    ...{ createdAt, expiresAt: createdAt + challengeMs },
  })
  if (!isCreated) return null
  const passkey =
    relyingParty && proofs.includes('passkey') ? requestOptions(token, relyingParty, passkeys) : null
  return { token, proofs: passkey ? proofs : proofs.filter((proof) => proof !== 'passkey'), passkey }
}

/** What a member answers: one of them. */
export interface Answer {
  password?: string | undefined
  /** A one-time code, or a recovery code. */
  code?: string | undefined
  passkey?: AuthenticationResponse | undefined
}

/** A proof, or why there is none: for the activity, which names what was tried. */
type CheckedAnswer = { proof: Proof } | { refused: ProofKind; copied: Passkey | null }

/** Checks an answer to a challenge with this token. Nothing is used up yet. */
export async function checkAnswer(
  deps: FactorDeps & { passwords: Passwords },
  { member, passwordHash }: MemberSecrets,
  { token, answer, relyingParty }: { token: string; answer: Answer; relyingParty: RelyingParty | null },
): Promise<CheckedAnswer> {
  const { password, code, passkey } = answer
  if (passkey !== undefined) {
    const found = (await deps.passkeys.list(member.id)).find(({ id }) => id === passkey.id)
    const checked = found && relyingParty && (await checkAuthentication(passkey, token, relyingParty, found))
    if (!found || !checked) return { refused: 'passkey', copied: null }
    if (checked === 'copied') return { refused: 'passkey', copied: found }
    return { proof: { kind: 'passkey', id: found.id, signCount: checked.signCount } }
  }
  if (code !== undefined) return checkCode(deps, member.id, code, deps.clock())
  const isRight = await deps.passwords.matches(password ?? '', passwordHash)
  return isRight ? { proof: { kind: 'password' } } : { refused: 'password', copied: null }
}

async function checkCode(
  { totp, keyring }: FactorDeps,
  memberId: string,
  code: string,
  now: Instant,
): Promise<CheckedAnswer> {
  const typed = code.replaceAll(/\s/g, '')
  // Whether a recovery code exists shows when it is used up.
  if (!/^\d{6}$/.test(typed))
    return { proof: { kind: 'recovery-code', hash: hashRecoveryCode(memberId, code) } }
  const app = await totp.find(memberId)
  const secret = app && keyring.openTotpSecret(memberId, app.sealedSecret)
  const step = app && secret ? acceptedStep(secret, typed, { now, lastStep: app.lastStep }) : null
  if (app === null || secret === null || step === null) return { refused: 'totp', copied: null }
  // Sealed again, so that an old secret of the installation can be removed in time.
  const sealedSecret = keyring.sealTotpSecret(memberId, secret)
  return { proof: { kind: 'totp', step, storedSecret: app.sealedSecret, sealedSecret } }
}

/** Not awaited, so that the time does not reveal whom an attempt concerned. */
export function noteRefusal(
  deps: Pick<FactorDeps, 'activity' | 'clock' | 'randomness'>,
  { organisationId }: Member,
  checked: CheckedAnswer,
  kind: 'member.sign-in-failed' | 'member.verification-failed',
  origin: Origin,
): void {
  const target = proofNames['proof' in checked ? checked.proof.kind : checked.refused]
  const add = (what: { kind: typeof kind | 'member.passkey-refused'; target: string }) =>
    deps.activity.add(activityNote(deps, origin, { ...what, organisationId })).catch(() => {})
  add({ kind, target })
  const copied = 'refused' in checked ? checked.copied : null
  if (copied) add({ kind: 'member.passkey-refused', target: copied.name })
}

export function expiredPrompt(): LetheError {
  return new LetheError('invalid_request', 'This took too long. Start again.')
}

/**
 * Removes a member's passkeys, authenticator app and recovery codes, for a member who has lost them, and ends
 * the member's sign-ins. The password stays. Throws `not_found` if there is no such member.
 */
export async function removeFactors(
  deps: { members: MemberStore; secondFactors: SecondFactorStore; clock: Clock; randomness: Randomness },
  { organisationId, memberId }: { organisationId: string; memberId: string },
  origin: Origin,
): Promise<void> {
  const member = await deps.members.find(organisationId, memberId)
  if (member === null) throw notFound('This member')
  const what = { organisationId, kind: 'member.factors-removed', target: member.email } as const
  const note = activityNote(deps, origin, what)
  if (!(await deps.secondFactors.removeAll(organisationId, memberId, note))) throw notFound('This member')
}
