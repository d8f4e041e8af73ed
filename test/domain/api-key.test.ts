import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type ApiKey, apiKeyState, keyNotActive } from '../../src/domain/api-key.ts'

function key(fields: Partial<ApiKey> = {}): ApiKey {
  return {
    id: '0123456789ABCDEF',
    organisationId: 'acme',
    name: 'nightly',
    scopes: ['analytics:view'],
    lastFour: 'wxyz',
    createdAt: 0,
    rotatedAt: null,
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
    ...fields,
  }
}

describe('the state of a key', () => {
  const cases: [what: string, fields: Partial<ApiKey>, now: number, state: string][] = [
    ['is active without an expiry', {}, 1e15, 'active'],
    ['is active one millisecond before its expiry', { expiresAt: 1_000 }, 999, 'active'],
    ['is expired from the instant of its expiry', { expiresAt: 1_000 }, 1_000, 'expired'],
    ['is expired after it', { expiresAt: 1_000 }, 1_001, 'expired'],
    ['is revoked once revoked', { revokedAt: 500 }, 600, 'revoked'],
    ['is revoked, not expired, when it is both', { revokedAt: 500, expiresAt: 700 }, 800, 'revoked'],
    ['is revoked whatever the clock says', { revokedAt: 500 }, 400, 'revoked'],
  ]
  for (const [what, fields, now, state] of cases) {
    it(what, () => assert.equal(apiKeyState(key(fields), now), state))
  }

  it('is the reason why a key cannot be rotated or revoked', () => {
    const error = keyNotActive(key({ expiresAt: 1_000 }), 2_000)
    assert.equal(error.code, 'invalid_request')
    assert.equal(
      error.message,
      'The key "nightly" is expired; only an active key can be rotated, renamed or revoked.',
    )
  })
})
