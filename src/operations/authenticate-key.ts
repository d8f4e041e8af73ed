import { type ApiKey, type ApiKeyStore, apiKeyState } from '../domain/api-key.ts'
import { type Eventually, then } from '../domain/eventually.ts'
import type { Clock } from '../domain/instant.ts'
import { hashKeyString, readKeyId } from '../domain/key-string.ts'

/** The active key that `keyString` belongs to; `null` for one that is malformed, unknown, rotated away, revoked or expired. */
export function authenticateKey(
  { apiKeys, clock }: { apiKeys: ApiKeyStore; clock: Clock },
  keyString: string,
): Eventually<ApiKey | null> {
  const id = readKeyId(keyString)
  if (id === null) return null
  // How long this comparison takes tells at most how two hashes begin, and nobody can choose a hash.
  return then(apiKeys.findWithHash(id), (found) => {
    if (found === null || found.hash !== hashKeyString(keyString)) return null
    return apiKeyState(found.key, clock()) === 'active' ? found.key : null
  })
}
