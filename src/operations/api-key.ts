import { commandLine, type Origin } from '../domain/activity.ts'
import {
  type ApiKey,
  type ApiKeyStore,
  allScopes,
  apiKeyState,
  type Caller,
  createKeyString,
  isScope,
  keyNotActive,
  maxKeyNameLength,
  readKeyId,
} from '../domain/api-key.ts'
import { credentialIdLength, hashCredential, proveCredential } from '../domain/credential.ts'
import { LetheError, notFound, Problems } from '../domain/errors.ts'
import type { Clock, Instant } from '../domain/instant.ts'
import type { Journal } from '../domain/journal.ts'
import { andThen, type MaybePromise } from '../domain/maybe-promise.ts'
import { checkName, type OrganisationStore, requireTypedName } from '../domain/organisation.ts'
import type { Randomness } from '../domain/randomness.ts'
import { activityNote } from './activity.ts'
import { requireOrganisation } from './organisation.ts'

export interface NewKey {
  organisationId: string
  name: string
  scopes: readonly string[]
  expiresAt: Instant | null
}

/** A key with its string, which is shown only once. */
export interface IssuedKey {
  key: ApiKey
  keyString: string
}

/** Throws `validation_error` for an invalid name, scope or expiry, `not_found` without the organisation. */
export async function createKey(
  deps: { organisations: OrganisationStore; apiKeys: ApiKeyStore; clock: Clock; randomness: Randomness },
  { organisationId, name, scopes, expiresAt }: NewKey,
  origin: Origin = commandLine,
): Promise<IssuedKey> {
  const now = deps.clock()
  const problems = new Problems()
  checkName(name, maxKeyNameLength, problems)
  const granted = [...new Set(scopes)].filter(isScope)
  const unknown = scopes.find((scope) => !isScope(scope))
  if (unknown !== undefined) {
    problems.add('scope', `"${unknown}" is not a scope; the scopes are ${allScopes().join(', ')}`)
  } else if (granted.length === 0) {
    problems.add('scope', 'a key needs at least one scope')
  }
  if (expiresAt !== null && expiresAt <= now) problems.add('expiresAt', 'expiresAt must be in the future')
  problems.throwIfAny()
  await requireOrganisation(deps, organisationId)

  const id = deps.randomness.base62(credentialIdLength)
  const keyString = createKeyString(id, deps.randomness)
  const { hash, lastFour } = proveCredential(keyString)
  const key: ApiKey = {
    id,
    organisationId,
    name,
    scopes: granted,
    lastFour,
    createdAt: now,
    rotatedAt: null,
    expiresAt,
    revokedAt: null,
    lastUsedAt: null,
  }
  const note = activityNote(deps, origin, { organisationId, kind: 'key.created', target: name })
  if (!(await deps.apiKeys.create(key, hash, note))) {
    // The organisation may have been deleted meanwhile.
    await requireOrganisation(deps, organisationId)
    problems.add('name', `the organisation already has an active key named "${name}"`)
    problems.throwIfAny()
  }
  return { key, keyString }
}

/** Throws `validation_error` if the name is invalid or taken, `invalid_request` if the key is not active. */
export async function renameKey(
  deps: { apiKeys: ApiKeyStore; clock: Clock; randomness: Randomness },
  id: string,
  name: string,
  origin: Origin = commandLine,
): Promise<ApiKey> {
  const now = deps.clock()
  const problems = new Problems()
  checkName(name, maxKeyNameLength, problems)
  problems.throwIfAny()
  const key = await requireKey(deps, id, origin)
  if (apiKeyState(key, now) !== 'active') throw keyNotActive(key, now)
  if (key.name === name) return key
  const { organisationId } = key
  const target = `${key.name} → ${name}`
  const note = activityNote(deps, origin, { organisationId, kind: 'key.renamed', target })
  const outcome = await deps.apiKeys.rename(key, name, now, note)
  if (outcome === 'taken') {
    problems.add('name', `the organisation already has an active key named "${name}"`)
    problems.throwIfAny()
  }
  const renamed = await requireKey(deps, id)
  if (outcome === 'absent') throw keyNotActive(renamed, now)
  return renamed
}

/** Replaces a key's string, effective immediately. Throws `invalid_request` if the key is not active. */
export async function rotateKey(
  deps: { apiKeys: ApiKeyStore; clock: Clock; randomness: Randomness; journal?: Journal | undefined },
  id: string,
  origin: Origin = commandLine,
): Promise<IssuedKey> {
  const now = deps.clock()
  const { organisationId, name } = await requireKey(deps, id, origin)
  const keyString = createKeyString(id, deps.randomness)
  const note = activityNote(deps, origin, { organisationId, kind: 'key.rotated', target: name })
  const proof = proveCredential(keyString)
  const at = await deps.apiKeys.rotate(id, proof, now, note)
  const key = await requireKey(deps, id)
  if (at === null) throw keyNotActive(key, now)
  await deps.journal?.append([{ kind: 'rotation', credential: 'key', id, at, ...proof }])
  return { key, keyString }
}

/** Throws `validation_error` unless `typedName` is its name, `invalid_request` if the key is not active. */
export async function revokeKey(
  deps: { apiKeys: ApiKeyStore; clock: Clock; randomness: Randomness; journal?: Journal | undefined },
  id: string,
  typedName: string,
  origin: Origin = commandLine,
): Promise<ApiKey> {
  const now = deps.clock()
  const { name, organisationId } = await requireKey(deps, id, origin)
  requireTypedName(typedName, name, 'key', 'revoked')
  const note = activityNote(deps, origin, { organisationId, kind: 'key.revoked', target: name })
  const isRevoked = await deps.apiKeys.revoke(id, now, note)
  const key = await requireKey(deps, id)
  if (!isRevoked) throw keyNotActive(key, now)
  await deps.journal?.append([{ kind: 'revocation', credential: 'key', id, at: now }])
  return key
}

/** `null` if the string is malformed, unknown, replaced, revoked or expired. */
export function authenticateKey(
  { apiKeys, clock }: { apiKeys: ApiKeyStore; clock: Clock },
  keyString: string,
): MaybePromise<Caller | null> {
  const id = readKeyId(keyString)
  if (id === null) return null
  // Timing reveals at most how two hashes begin, and nobody can choose a hash.
  return andThen(apiKeys.findCaller(id), (found) => {
    if (found === null || found.hash !== hashCredential(keyString)) return null
    return apiKeyState(found.key, clock()) === 'active' ? found : null
  })
}

/** Throws `not_found` if the key does not exist or belongs to another organisation. */
export async function requireKey(
  { apiKeys }: { apiKeys: ApiKeyStore },
  id: string,
  { organisationId }: Origin = commandLine,
): Promise<ApiKey> {
  const key = await apiKeys.find(id)
  if (organisationId !== null && key?.organisationId !== organisationId) throw notFound('This key')
  if (key === null) throw new LetheError('not_found', `There is no key "${id}".`)
  return key
}
