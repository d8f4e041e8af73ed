import { commandLine, type Origin } from '../../domain/activity.ts'
import { type ApiKey, type ApiKeyStore, keyNotActive } from '../../domain/api-key.ts'
import type { Clock } from '../../domain/instant.ts'
import type { Journal } from '../../domain/journal.ts'
import { Problems } from '../../domain/problems.ts'
import type { Randomness } from '../../domain/randomness.ts'
import { activityNote } from '../activity/activity-note.ts'
import { requireKey } from './require-key.ts'

/**
 * Ends a key for good. `typedName` is the key's name as whoever revokes it typed it: `validation_error` when it is not the key's.
 * `invalid_request` for a key that is not active.
 */
export async function revokeKey(
  deps: { apiKeys: ApiKeyStore; clock: Clock; randomness: Randomness; journal?: Journal | undefined },
  id: string,
  typedName: string,
  origin: Origin = commandLine,
): Promise<ApiKey> {
  const now = deps.clock()
  const { name, organisationId } = await requireKey(deps, id, origin)
  const problems = new Problems()
  if (typedName !== name)
    problems.add('name', 'the name typed is not the name of this key; nothing was revoked')
  problems.throwIfAny()
  const note = activityNote(deps, origin, { organisationId, kind: 'key.revoked', target: name })
  const isRevoked = await deps.apiKeys.revoke(id, now, note)
  const key = await requireKey(deps, id)
  if (!isRevoked) throw keyNotActive(key, now)
  await deps.journal?.append([{ kind: 'key.revoked', keyId: id, at: now }])
  return key
}
