import type { ApiKey } from '../../src/domain/api-key.ts'

/** A new key: the only test code that lists every field of a key. */
export function newApiKey(fields: Partial<ApiKey> & Pick<ApiKey, 'id' | 'organisationId'>): ApiKey {
  return {
    name: fields.id,
    scopes: ['analytics:view'],
    lastFour: 'wxyz',
    createdAt: 1,
    rotatedAt: null,
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
    ...fields,
  }
}
