import { type ApiKey, type ApiKeyStore, keyNotActive } from '../domain/api-key.ts'
import type { Clock } from '../domain/instant.ts'
import { Problems } from '../domain/problems.ts'
import { requireKey } from './require-key.ts'

/**
 * Ends a key for good. `typedName` is the key's name as whoever revokes it typed it: `validation_error` when it is not the key's.
 * `invalid_request` for a key that is not active.
 */
export async function revokeKey(
  parts: { apiKeys: ApiKeyStore; clock: Clock },
  id: string,
  typedName: string,
): Promise<ApiKey> {
  const now = parts.clock()
  const { name } = await requireKey(parts, id)
  const problems = new Problems()
  if (typedName !== name)
    problems.add('name', 'the name typed is not the name of this key; nothing was revoked')
  problems.throwIfAny()
  const isRevoked = await parts.apiKeys.revoke(id, now)
  const key = await requireKey(parts, id)
  if (!isRevoked) throw keyNotActive(key, now)
  return key
}
