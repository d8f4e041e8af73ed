import { type ApiKeyStore, apiKeyState, type Caller } from '../domain/api-key.ts'
import { type Eventually, then } from '../domain/eventually.ts'
import type { Clock } from '../domain/instant.ts'
import { hashKeyString, readKeyId } from '../domain/key-string.ts'

/** Who an active key's string stands for; `null` for one that is malformed, unknown, rotated away, revoked or expired. */
export function authenticateKey(
  { apiKeys, clock }: { apiKeys: ApiKeyStore; clock: Clock },
  keyString: string,
): Eventually<Caller | null> {
  const id = readKeyId(keyString)
  if (id === null) return null
  // How long this comparison takes tells at most how two hashes begin, and nobody can choose a hash.
  return then(apiKeys.findCaller(id), (found) => {
    if (found === null || found.hash !== hashKeyString(keyString)) return null
    return apiKeyState(found.key, clock()) === 'active' ? found : null
  })
}
