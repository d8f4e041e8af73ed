import { type ApiKeyStore, apiKeyState, type Caller } from '../../domain/api-key.ts'
import type { Clock } from '../../domain/instant.ts'
import { hashKeyString, readKeyId } from '../../domain/key-string.ts'
import { andThen, type MaybePromise } from '../../domain/maybe-promise.ts'

/** Who an active key's string stands for; `null` for one that is malformed, unknown, rotated away, revoked or expired. */
export function authenticateKey(
  { apiKeys, clock }: { apiKeys: ApiKeyStore; clock: Clock },
  keyString: string,
): MaybePromise<Caller | null> {
  const id = readKeyId(keyString)
  if (id === null) return null
  // How long this comparison takes tells at most how two hashes begin, and nobody can choose a hash.
  return andThen(apiKeys.findCaller(id), (found) => {
    if (found === null || found.hash !== hashKeyString(keyString)) return null
    return apiKeyState(found.key, clock()) === 'active' ? found : null
  })
}
