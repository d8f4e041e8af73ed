import type { Origin } from '../domain/activity.ts'
import { invalidField, LetheError, notFound } from '../domain/errors.ts'
import { countCharacters } from '../domain/identifier.ts'
import type { Member } from '../domain/member.ts'
import {
  maxPasskeyNameLength,
  maxPasskeys,
  type Passkey,
  type PasskeyStore,
  type RelyingParty,
} from '../domain/passkey.ts'
import { createToken, hashToken } from '../domain/randomness.ts'
import { createRecoveryCodes, hashRecoveryCode } from '../domain/recovery-code.ts'
import type { SignedIn } from '../domain/sign-in.ts'
import { challengeMs } from '../domain/sign-in-challenge.ts'
import {
  challengeToken,
  checkRegistration,
  type RegistrationOptions,
  type RegistrationResponse,
  registrationOptions,
} from '../factors/passkey-ceremony.ts'
import { activityNote } from './activity.ts'
import type { FactorDeps } from './second-factor.ts'

/** Throws `invalid_request` if the member has too many. */
export async function beginPasskey(
  deps: FactorDeps,
  member: Member,
  relyingParty: RelyingParty,
): Promise<RegistrationOptions> {
  const existing = await deps.passkeys.list(member.id)
  requireRoom(existing)
  const token = createToken(deps.randomness)
  const createdAt = deps.clock()
  await deps.signInChallenges.create({
    ...{ tokenHash: hashToken(token), kind: 'passkey-registration', memberId: member.id, data: 'null' },
    ...{ createdAt, expiresAt: createdAt + challengeMs },
  })
  return registrationOptions(token, relyingParty, member, existing)
}

/**
 * Adds a passkey, and ends the member's other sign-ins if they have proved too little. Returns recovery codes
 * if the member had none. Throws `validation_error` if the name or the response is not valid, or if it
 * answers no challenge of this member.
 */
export async function addPasskey(
  deps: FactorDeps,
  { member, signIn }: SignedIn,
  { name: typed, response }: { name: string; response: RegistrationResponse },
  relyingParty: RelyingParty,
  origin: Origin,
): Promise<{ passkey: Passkey; recoveryCodes: string[] | null }> {
  const name = checkName(typed)
  requireRoom(await deps.passkeys.list(member.id))
  const now = deps.clock()
  const token = challengeToken(response) ?? ''
  const tokenHash = hashToken(token)
  const found = await deps.signInChallenges.find(tokenHash, 'passkey-registration', now)
  // Used up whether or not the response is right.
  if (found?.challenge.memberId !== member.id) throw unusable()
  if (!(await deps.signInChallenges.take(tokenHash, 'passkey-registration', now))) throw unusable()
  const made = await checkRegistration(response, token, relyingParty)
  if (made === null) throw unusable()
  const passkey: Passkey = { ...made, memberId: member.id, name, createdAt: now, lastUsedAt: null }
  const codes = createRecoveryCodes(deps.randomness)
  const recoveryHashes = codes.map((code) => hashRecoveryCode(member.id, code))
  const { organisationId } = member
  const note = activityNote(deps, origin, { organisationId, kind: 'member.passkey-added', target: name })
  const by = { tokenHash: signIn.tokenHash, recoveryHashes }
  const added = await deps.passkeys.add(passkey, by, note)
  if (added === null) throw unusable()
  return { passkey, recoveryCodes: added.codesAdded ? codes : null }
}

/** Throws `not_found` if the member has no such passkey, and `validation_error` for an invalid name. */
export async function renamePasskey(
  deps: FactorDeps,
  member: Member,
  { passkeyId, name: typed }: { passkeyId: string; name: string },
  origin: Origin,
): Promise<void> {
  const name = checkName(typed)
  const { name: before } = await requirePasskey(deps, member, passkeyId)
  const { id, organisationId } = member
  const target = `${before} → ${name}`
  const note = activityNote(deps, origin, { organisationId, kind: 'member.passkey-renamed', target })
  if (!(await deps.passkeys.rename(id, passkeyId, name, note))) throw notFound('This passkey')
}

/** Throws `not_found` if the member has no such passkey. */
export async function removePasskey(
  deps: FactorDeps,
  member: Member,
  passkeyId: string,
  origin: Origin,
): Promise<void> {
  const { name } = await requirePasskey(deps, member, passkeyId)
  const { id, organisationId } = member
  const note = activityNote(deps, origin, { organisationId, kind: 'member.passkey-removed', target: name })
  if (!(await deps.passkeys.remove(id, passkeyId, note))) throw notFound('This passkey')
}

async function requirePasskey(
  { passkeys }: { passkeys: PasskeyStore },
  { id: memberId }: Member,
  passkeyId: string,
): Promise<Passkey> {
  const passkey = (await passkeys.list(memberId)).find(({ id }) => id === passkeyId)
  if (!passkey) throw notFound('This passkey')
  return passkey
}

function checkName(typed: string): string {
  const name = typed.trim()
  const length = countCharacters(name)
  if (length >= 1 && length <= maxPasskeyNameLength && !/\p{Cc}/u.test(name) && name.isWellFormed())
    return name
  throw invalidField(
    'name',
    `name must be 1 to ${maxPasskeyNameLength} characters without control characters`,
  )
}

function requireRoom(existing: readonly Passkey[]): void {
  if (existing.length < maxPasskeys) return
  throw new LetheError('invalid_request', `A member has at most ${maxPasskeys} passkeys. Remove one first.`)
}

function unusable(): LetheError {
  return invalidField('response', 'response is not a passkey that was made for this request; try again')
}
