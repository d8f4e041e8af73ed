import type { ApiKeyStore } from '../domain/api-key.ts'
import { keyNotActive } from '../domain/api-key.ts'
import type { Clock } from '../domain/instant.ts'
import { createKeyString, proveKeyString } from '../domain/key-string.ts'
import type { Randomness } from '../domain/randomness.ts'
import type { IssuedKey } from './create-key.ts'
import { requireKey } from './require-key.ts'

/** Gives an active key a new string; the old one stops working at once. `invalid_request` for a key that is not active. */
export async function rotateKey(
  parts: { apiKeys: ApiKeyStore; clock: Clock; randomness: Randomness },
  id: string,
): Promise<IssuedKey> {
  const now = parts.clock()
  const keyString = createKeyString(id, parts.randomness)
  const isRotated = await parts.apiKeys.rotate(id, proveKeyString(keyString), now)
  const key = await requireKey(parts, id)
  if (!isRotated) throw keyNotActive(key, now)
  return { key, keyString }
}
