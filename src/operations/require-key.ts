import type { ApiKey, ApiKeyStore } from '../domain/api-key.ts'
import { LetheError } from '../domain/errors.ts'

/** The key an operator named. `not_found` when there is none. */
export async function requireKey({ apiKeys }: { apiKeys: ApiKeyStore }, id: string): Promise<ApiKey> {
  const key = await apiKeys.find(id)
  if (key === null) throw new LetheError('not_found', `There is no key "${id}".`)
  return key
}
