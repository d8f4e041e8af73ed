import { commandLine, type Origin } from '../../domain/activity.ts'
import type { ApiKey, ApiKeyStore } from '../../domain/api-key.ts'
import { LetheError, notFound } from '../../domain/errors.ts'

/** The key somebody named. `not_found` when there is none, or none within their reach. */
export async function requireKey(
  { apiKeys }: { apiKeys: ApiKeyStore },
  id: string,
  { organisationId }: Origin = commandLine,
): Promise<ApiKey> {
  const key = await apiKeys.find(id)
  if (organisationId !== null && key?.organisationId !== organisationId) throw notFound('This key')
  if (key === null) throw new LetheError('not_found', `There is no key "${id}".`)
  return key
}
