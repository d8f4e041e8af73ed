import { commandLine, type Origin } from '../../domain/activity.ts'
import { type ApiKey, type ApiKeyStore, maxKeyNameLength } from '../../domain/api-key.ts'
import type { Clock, Instant } from '../../domain/instant.ts'
import { createKeyString, keyIdLength, proveKeyString } from '../../domain/key-string.ts'
import { checkName } from '../../domain/name.ts'
import type { OrganisationStore } from '../../domain/organisation.ts'
import { Problems } from '../../domain/problems.ts'
import type { Randomness } from '../../domain/randomness.ts'
import { allScopes, isScope } from '../../domain/scope.ts'
import { activityNote } from '../activity/activity-note.ts'
import { requireOrganisation } from '../organisation/require-organisation.ts'

export interface NewKey {
  organisationId: string
  name: string
  scopes: readonly string[]
  expiresAt: Instant | null
}

/** A key together with its string: the one moment that the string can be seen. */
export interface IssuedKey {
  key: ApiKey
  keyString: string
}

/** Creates an active key. `validation_error` when the name, a scope or the expiry will not do; `not_found` without the organisation. */
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
    problems.add('scope', `"${unknown}" is not a scope; there are ${allScopes().join(' and ')}`)
  } else if (granted.length === 0) {
    problems.add('scope', 'a key needs at least one scope')
  }
  if (expiresAt !== null && expiresAt <= now) problems.add('expiresAt', 'expiresAt must lie in the future')
  problems.throwIfAny()
  await requireOrganisation(deps, organisationId)

  const id = deps.randomness.base62(keyIdLength)
  const keyString = createKeyString(id, deps.randomness)
  const { hash, lastFour } = proveKeyString(keyString)
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
    // Where it was deleted meanwhile, that is why.
    await requireOrganisation(deps, organisationId)
    problems.add('name', `the organisation has an active key named "${name}" already`)
    problems.throwIfAny()
  }
  return { key, keyString }
}
