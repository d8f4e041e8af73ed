import { commandLine, type Origin } from '../../domain/activity.ts'
import type { ApiKeyStore } from '../../domain/api-key.ts'
import { keyNotActive } from '../../domain/api-key.ts'
import type { Clock } from '../../domain/instant.ts'
import type { Journal } from '../../domain/journal.ts'
import { createKeyString, proveKeyString } from '../../domain/key-string.ts'
import type { Randomness } from '../../domain/randomness.ts'
import { activityNote } from '../activity/activity-note.ts'
import type { IssuedKey } from './create-key.ts'
import { requireKey } from './require-key.ts'

/** Gives an active key a new string; the old one stops working immediately. `invalid_request` for a key that is not active. */
export async function rotateKey(
  deps: { apiKeys: ApiKeyStore; clock: Clock; randomness: Randomness; journal?: Journal | undefined },
  id: string,
  origin: Origin = commandLine,
): Promise<IssuedKey> {
  const now = deps.clock()
  const { organisationId, name } = await requireKey(deps, id, origin)
  const keyString = createKeyString(id, deps.randomness)
  const note = activityNote(deps, origin, { organisationId, kind: 'key.rotated', target: name })
  const proof = proveKeyString(keyString)
  const at = await deps.apiKeys.rotate(id, proof, now, note)
  const key = await requireKey(deps, id)
  if (at === null) throw keyNotActive(key, now)
  await deps.journal?.append([{ kind: 'key.rotated', keyId: id, at, ...proof }])
  return { key, keyString }
}
