import { timingSafeEqual } from 'node:crypto'
import { type ApiKey, type ApiKeyStore, apiKeyState } from '../domain/api-key.ts'
import type { Clock } from '../domain/instant.ts'
import { hashKeyString, readKeyId } from '../domain/key-string.ts'

/** The active key that `keyString` belongs to; `null` for one that is malformed, unknown, rotated away, revoked or expired. */
export async function authenticateKey(
  { apiKeys, clock }: { apiKeys: ApiKeyStore; clock: Clock },
  keyString: string,
): Promise<ApiKey | null> {
  const id = readKeyId(keyString)
  if (id === null) return null
  const found = await apiKeys.findWithHash(id)
  if (found === null || !timingSafeEqual(found.hash, hashKeyString(keyString))) return null
  return apiKeyState(found.key, clock()) === 'active' ? found.key : null
}
