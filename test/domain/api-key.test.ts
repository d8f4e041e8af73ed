import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import {
  type ApiKey,
  allScopes,
  apiKeyState,
  areas,
  createKeyString,
  isScope,
  keyNotActive,
  keyStringPattern,
  readKeyId,
} from '../../src/domain/api-key.ts'
import { hashCredential, proveCredential } from '../../src/domain/credential.ts'
import { base62Alphabet } from '../../src/domain/randomness.ts'
import { newApiKey } from '../support/new-api-key.ts'

function key(fields: Partial<ApiKey> = {}): ApiKey {
  return newApiKey({ id: '0123456789ABCDEF', organisationId: 'acme', name: 'nightly', ...fields })
}

describe('the state of a key', () => {
  const cases: [what: string, fields: Partial<ApiKey>, now: number, state: string][] = [
    ['is active without an expiry', {}, 1e15, 'active'],
    ['is active one millisecond before its expiry', { expiresAt: 1_000 }, 999, 'active'],
    ['is expired from the instant of its expiry', { expiresAt: 1_000 }, 1_000, 'expired'],
    ['is expired after it', { expiresAt: 1_000 }, 1_001, 'expired'],
    ['is revoked once revoked', { revokedAt: 500 }, 600, 'revoked'],
    ['is revoked, not expired, if it is both', { revokedAt: 500, expiresAt: 700 }, 800, 'revoked'],
    ['is revoked regardless of the clock', { revokedAt: 500 }, 400, 'revoked'],
  ]
  for (const [what, fields, now, state] of cases) {
    it(what, () => assert.equal(apiKeyState(key(fields), now), state))
  }

  it('is the reason if a key cannot be rotated or revoked', () => {
    const error = keyNotActive(key({ expiresAt: 1_000 }), 2_000)
    assert.equal(error.code, 'invalid_request')
    assert.equal(
      error.message,
      'The key "nightly" is expired; only an active key can be rotated, renamed or revoked.',
    )
  })
})

const id = '0123456789ABCDEF'
const secret = 'abcdefghijklmnopqrstuvwxyz012345'
/**
 * The CRC-32 of the preceding characters is 3535186097, calculated by another program; in base62 that is
 * 3rFHOb.
 */
const sample = `lethe_${id}_${secret}3rFHOb`

/** Returns predefined characters. */
function knownRandomness(characters: string) {
  return { uuid: () => '', base62: (length: number) => characters.slice(0, length) }
}

describe('the string of a key', () => {
  it('consists of its ID, its secret and their checksum', () => {
    assert.equal(createKeyString(id, knownRandomness(secret)), sample)
  })

  it('has a secret of 32 characters', () => {
    const drawn: number[] = []
    createKeyString(id, {
      uuid: () => '',
      base62(length) {
        drawn.push(length)
        return 'x'.repeat(length)
      },
    })
    assert.deepEqual(drawn, [32])
  })

  it('has six characters of checksum even for a small checksum', () => {
    const text = createKeyString(id, knownRandomness('abcdefghijklmnopqrstuvwxyz000139'))
    assert.match(text, keyStringPattern)
    assert.match(text, /00013900[0-9A-Za-z]{4}$/)
    assert.equal(readKeyId(text), id)
  })

  it('contains the ID of its key', () => assert.equal(readKeyId(sample), id))

  it('matches the documented expression, which leak scanners use', () => {
    assert.match(sample, keyStringPattern)
    assert.equal(keyStringPattern.source, '^lethe_[0-9A-Za-z]{16}_[0-9A-Za-z]{38}$')
    assert.equal(keyStringPattern.flags, '')
  })

  it('is stored as its SHA-256 and its last four characters', () => {
    const sha256 = createHash('sha256').update(sample).digest('hex')
    assert.equal(hashCredential(sample), sha256)
    const proof = proveCredential(sample)
    assert.equal(proof.hash, sha256)
    assert.equal(proof.lastFour, 'FHOb')
  })
})

describe('a damaged key string is rejected', () => {
  it('if any character is changed', () => {
    for (let position = 0; position < sample.length; position++) {
      for (const character of `${base62Alphabet}_`) {
        const changed = sample.slice(0, position) + character + sample.slice(position + 1)
        assert.equal(readKeyId(changed), changed === sample ? id : null, changed)
      }
    }
  })

  it('if any two neighbours are swapped', () => {
    for (let position = 0; position + 1 < sample.length; position++) {
      const [a = '', b = ''] = sample.slice(position, position + 2)
      const swapped = sample.slice(0, position) + b + a + sample.slice(position + 2)
      assert.equal(readKeyId(swapped), null, swapped)
    }
  })

  it('if it is truncated anywhere', () => {
    for (let length = 0; length < sample.length; length++) {
      assert.equal(readKeyId(sample.slice(0, length)), null)
    }
  })
})

describe('a string of another kind is rejected', () => {
  const foreign: [what: string, text: string][] = [
    ['nothing', ''],
    ['a word', 'password'],
    ['a UUID', 'd9428888-122b-41e1-b85c-61f5a02ad8b1'],
    ['another service’s key', `sk_live_${'a'.repeat(54)}`],
    ['the right form with another checksum', `lethe_${id}_${secret}000000`],
    ['another case of the prefix', sample.replace('lethe', 'LETHE')],
    ['a blank before it', ` ${sample}`],
    ['a line end after it', `${sample}\n`],
    ['more after it', `${sample}0`],
    ['letters beyond ASCII', sample.replace('a', 'ä')],
    ['two of them', sample + sample],
  ]
  for (const [what, text] of foreign) it(what, () => assert.equal(readKeyId(text), null))
})

describe('the scopes', () => {
  it('are the ones that endpoints use', () => {
    assert.deepEqual(allScopes(), [
      'analytics:view',
      'analytics:collect',
      'analytics:manage-requests',
      'analytics:delete-data',
    ])
    for (const scope of allScopes()) assert.equal(isScope(scope), true)
  })

  it('consist of an area and an action', () => {
    for (const scope of allScopes()) {
      const [area = '', action = '', ...rest] = scope.split(':')
      assert.ok(
        areas.some((known) => known === area),
        scope,
      )
      assert.match(action, /^[a-z]+(-[a-z]+)*$/)
      assert.deepEqual(rest, [])
    }
  })

  it('do not include unknown ones', () => {
    const others = [
      ...['', 'analytics', 'analytics:', 'analytics:edit', 'Analytics:view', 'analytics:view '],
      ...['billing:view'],
    ]
    for (const text of [...others, 'toString', '__proto__', 'constructor', 'hasOwnProperty']) {
      assert.equal(isScope(text), false, text)
    }
  })
})

describe('the areas of scopes', () => {
  it('are the eight areas of the product', () => {
    assert.deepEqual(
      areas,
      'analytics trackers variables uptime-monitors status-pages members api-keys billing'.split(' '),
    )
  })
})
