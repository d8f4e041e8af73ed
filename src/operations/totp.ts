import type { Origin } from '../domain/activity.ts'
import { invalidField, LetheError } from '../domain/errors.ts'
import type { Member } from '../domain/member.ts'
import type { Organisation } from '../domain/organisation.ts'
import { createToken, hashToken } from '../domain/randomness.ts'
import { createRecoveryCodes, hashRecoveryCode } from '../domain/recovery-code.ts'
import type { SignedIn } from '../domain/sign-in.ts'
import { challengeMs } from '../domain/sign-in-challenge.ts'
import { acceptedStep, createTotpSecret, totpUri } from '../factors/totp-codes.ts'
import { activityNote } from './activity.ts'
import type { FactorDeps } from './second-factor.ts'

/** A secret for an authenticator app, which counts once a code has confirmed it. */
interface TotpOffer {
  token: string
  secret: string
  /** The same for a QR code. */
  uri: string
}

export async function beginTotp(
  { signInChallenges, keyring, clock, randomness }: FactorDeps,
  { id: memberId, email }: Member,
  { name }: Organisation,
): Promise<TotpOffer> {
  const token = createToken(randomness)
  const secret = createTotpSecret(randomness)
  const createdAt = clock()
  await signInChallenges.create({
    ...{ tokenHash: hashToken(token), kind: 'totp-registration', memberId },
    data: JSON.stringify(keyring.sealTotpSecret(memberId, secret)),
    ...{ createdAt, expiresAt: createdAt + challengeMs },
  })
  return { token, secret, uri: totpUri(secret, { label: email, issuer: `Lethe (${name})` }) }
}

/**
 * Replaces the member's app, and ends the member's other sign-ins if they have proved too little. Returns
 * recovery codes if the member had none. Throws `invalid_request` if the offer has expired, and
 * `validation_error` for a wrong code; then the offer stays.
 */
export async function confirmTotp(
  deps: FactorDeps,
  { member: { id: memberId, organisationId }, signIn: { tokenHash } }: SignedIn,
  { token, code }: { token: string; code: string },
  origin: Origin,
): Promise<{ recoveryCodes: string[] | null }> {
  const now = deps.clock()
  const challengeHash = hashToken(token)
  const found = await deps.signInChallenges.find(challengeHash, 'totp-registration', now)
  if (found?.challenge.memberId !== memberId) throw expired()
  const secret = deps.keyring.openTotpSecret(memberId, JSON.parse(found.challenge.data))
  if (secret === null) throw expired()
  const lastStep = acceptedStep(secret, code, { now, lastStep: null })
  if (lastStep === null) throw invalidField('code', 'code is incorrect; enter the one that the app shows now')
  const totp = { sealedSecret: deps.keyring.sealTotpSecret(memberId, secret), setAt: now, lastStep }
  const codes = createRecoveryCodes(deps.randomness)
  const recoveryHashes = codes.map((each) => hashRecoveryCode(memberId, each))
  const note = activityNote(deps, origin, { organisationId, kind: 'member.totp-set', target: null })
  const set = await deps.totp.set(memberId, totp, { tokenHash, challengeHash, recoveryHashes }, note)
  if (set === null) throw expired()
  return { recoveryCodes: set.codesAdded ? codes : null }
}

/** Throws `invalid_request` if the member has none. */
export async function removeTotp(
  deps: FactorDeps,
  { id, organisationId }: Member,
  origin: Origin,
): Promise<void> {
  const note = activityNote(deps, origin, { organisationId, kind: 'member.totp-removed', target: null })
  if (await deps.totp.remove(id, note)) return
  throw new LetheError('invalid_request', 'You have no authenticator app.')
}

function expired(): LetheError {
  return new LetheError('invalid_request', 'This code has expired. Start again with a new one.')
}
