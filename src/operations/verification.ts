import type { Origin } from '../domain/activity.ts'
import { invalidField, LetheError } from '../domain/errors.ts'
import type { RelyingParty } from '../domain/passkey.ts'
import type { Passwords } from '../domain/password.ts'
import { createToken, hashToken } from '../domain/randomness.ts'
import { type ProofKind, proofNames } from '../domain/second-factor.ts'
import type { SignedIn, SignInStore } from '../domain/sign-in.ts'
import { activityNote } from './activity.ts'
import {
  checkAnswer,
  expiredPrompt,
  type FactorDeps,
  factorsOf,
  noteRefusal,
  type ProofPrompt,
  promptFor,
  secondProofs,
} from './second-factor.ts'

// Members prove again who they are, before a request that could do harm in the hands of a thief.

/** Asks for a second factor from members who have one, and otherwise for the password. */
export async function beginVerification(
  deps: FactorDeps,
  signedIn: SignedIn,
  relyingParty: RelyingParty | null,
): Promise<ProofPrompt> {
  const { member } = signedIn
  const factors = await factorsOf(deps, member)
  const proofs = proofsOf(secondProofs(factors), signedIn)
  const challenge = { kind: 'verification', memberId: member.id } as const
  const prompt = await promptFor(deps, challenge, proofs, factors.passkeys, relyingParty)
  if (prompt === null) throw new LetheError('not_found', 'You are no longer a member.')
  return prompt
}

/** Members who came by single sign-on prove their identity there, also if they have a password. */
function proofsOf(second: ProofKind[], { member, signIn }: SignedIn): ProofKind[] {
  if (second.length > 0) return second
  const hasPassword = member.passwordSetAt !== null && signIn.method !== 'single-sign-on'
  return hasPassword ? ['password'] : ['single-sign-on']
}

interface VerificationDeps extends FactorDeps {
  signIns: SignInStore
  passwords: Passwords
  /** Counts an attempt. Rejects with `rate_limited` after too many. */
  countGuess(): Promise<void>
}

/**
 * Returns a new token for the sign-in; the previous one is void. Throws `validation_error` if the answer is
 * wrong, and `invalid_request` if the challenge has expired.
 */
export async function verify(
  deps: VerificationDeps,
  signedIn: SignedIn,
  { token, answer, relyingParty }: Parameters<typeof checkAnswer>[2],
  origin: Origin,
): Promise<string> {
  const { signIn, member } = signedIn
  const now = deps.clock()
  const challengeHash = hashToken(token)
  const found = await deps.signInChallenges.find(challengeHash, 'verification', now)
  if (found?.of?.member.id !== member.id) throw expiredPrompt()
  await deps.countGuess()
  const checked = await checkAnswer(deps, found.of, { token, answer, relyingParty })
  const allowed = proofsOf(secondProofs(await factorsOf(deps, member)), signedIn)
  if ('proof' in checked && allowed.includes(checked.proof.kind)) {
    const { proof } = checked
    const { organisationId } = member
    const note = activityNote(deps, origin, {
      organisationId,
      kind: 'member.verified',
      target: proofNames[proof.kind],
    })
    const newToken = createToken(deps.randomness)
    const renewed = { from: signIn.tokenHash, to: hashToken(newToken) }
    if (await deps.signIns.verify(renewed, member.id, { challengeHash, proof }, note)) return newToken
  }
  noteRefusal(deps, member, checked, 'member.verification-failed', origin)
  const [field = 'password'] = Object.keys(answer)
  throw invalidField(field, `${field} is not right; try again`)
}
