import type { ApiKey } from '../../src/domain/api-key.ts'

/** A key as it is before it is stored: the only test code that names every field of a key. */
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
