import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { keyStringPattern, readKeyId } from '../../../src/domain/api-key.ts'
import {
  authenticateKey,
  createKey,
  type NewKey,
  requireKey,
  revokeKey,
  rotateKey,
} from '../../../src/operations/api-key.ts'
import { failure, openDeps } from '../fixture.ts'

const { deps, passTime, fresh } = openDeps()

async function newKey(fields: Partial<NewKey> = {}): Promise<NewKey> {
  const organisationId = fields.organisationId ?? fresh('organisation')
  await deps().organisations.create({ id: organisationId, name: 'Acme', plan: 'free', createdAt: 1 })
  return { name: 'nightly', scopes: ['analytics:view'], expiresAt: null, ...fields, organisationId }
}

describe('creating a key', () => {
  it('gives an active key whose string is shown this once, and stored nowhere', async () => {
    const wanted = await newKey({ scopes: ['analytics:delete-data'] })
    const { key, keyString } = await createKey(deps(), wanted)
    assert.match(keyString, keyStringPattern)
    assert.equal(readKeyId(keyString), key.id)
    const { name, organisationId } = wanted
    assert.deepEqual(key, {
      id: key.id,
      organisationId,
      name,
      scopes: ['analytics:delete-data'],
      lastFour: keyString.slice(-4),
      createdAt: deps().clock(),
      rotatedAt: null,
      expiresAt: null,
      revokedAt: null,
      lastUsedAt: null,
    })
    const stored = await deps().apiKeys.findCaller(key.id)
    assert.deepEqual(stored?.key, key)
    assert.equal(JSON.stringify(stored).includes(keyString.slice(23)), false)
    assert.deepEqual((await authenticateKey(deps(), keyString))?.key, key)
  })

  it('grants a scope once that is named twice', async () => {
    const scopes = ['analytics:view', 'analytics:delete-data', 'analytics:view']
    const { key } = await createKey(deps(), await newKey({ scopes }))
    assert.deepEqual(key.scopes, ['analytics:view', 'analytics:delete-data'])
  })

  it('tells all that is wrong together', async () => {
    const wanted = await newKey({ name: ' ', scopes: ['analytics:edit'], expiresAt: deps().clock() })
    const { fields } = await failure('validation_error', createKey(deps(), wanted))
    assert.deepEqual(fields, {
      name: 'name must be 1 to 64 characters, no control characters',
      scope: '"analytics:edit" is not a scope; there are analytics:view and analytics:delete-data',
      expiresAt: 'expiresAt must lie in the future',
    })
    assert.deepEqual(await deps().apiKeys.list(wanted.organisationId), [])
  })

  it('needs at least one scope', async () => {
    const { fields } = await failure('validation_error', createKey(deps(), await newKey({ scopes: [] })))
    assert.deepEqual(fields, { scope: 'a key needs at least one scope' })
  })

  it('grants nothing when one scope of several is unknown', async () => {
    const wanted = await newKey({ scopes: ['analytics:view', 'billing:view'] })
    const { fields } = await failure('validation_error', createKey(deps(), wanted))
    assert.deepEqual(Object.keys(fields), ['scope'])
    assert.deepEqual(await deps().apiKeys.list(wanted.organisationId), [])
  })

  it('takes a name of 64 characters and no longer', async () => {
    await createKey(deps(), await newKey({ name: '🦦'.repeat(64) }))
    const wanted = await newKey({ name: 'a'.repeat(65) })
    assert.deepEqual(Object.keys((await failure('validation_error', createKey(deps(), wanted))).fields), [
      'name',
    ])
  })

  it('takes an expiry one millisecond ahead', async () => {
    const { key } = await createKey(deps(), await newKey({ expiresAt: deps().clock() + 1 }))
    assert.equal(key.expiresAt, deps().clock() + 1)
  })

  it('refuses the name of an active key, and takes it when that key is no longer active', async () => {
    const wanted = await newKey({ expiresAt: deps().clock() + 1_000 })
    const again = { ...wanted, expiresAt: null }
    await createKey(deps(), wanted)
    const { fields } = await failure('validation_error', createKey(deps(), again))
    assert.deepEqual(fields, { name: 'the organisation has an active key named "nightly" already' })
    passTime(1_000)
    const { key } = await createKey(deps(), again)
    await failure('validation_error', createKey(deps(), again))
    await revokeKey(deps(), key.id, 'nightly')
    await createKey(deps(), again)
    assert.equal((await deps().apiKeys.list(wanted.organisationId)).length, 3)
  })

  it('is not found without the organisation', async () => {
    const wanted = { organisationId: 'nobody', name: 'nightly', scopes: ['analytics:view'], expiresAt: null }
    const { message } = await failure('not_found', createKey(deps(), wanted))
    assert.equal(message, 'There is no organisation "nobody".')
  })
})

describe('rotating a key', () => {
  it('gives it a new string, and the old one stops working immediately', async () => {
    const { key, keyString } = await createKey(deps(), await newKey())
    passTime(5)
    const rotated = await rotateKey(deps(), key.id)
    assert.notEqual(rotated.keyString, keyString)
    assert.deepEqual(rotated.key, {
      ...key,
      lastFour: rotated.keyString.slice(-4),
      rotatedAt: deps().clock(),
    })
    assert.equal(await authenticateKey(deps(), keyString), null)
    assert.deepEqual((await authenticateKey(deps(), rotated.keyString))?.key, rotated.key)
  })

  it('is refused for a revoked key', async () => {
    const { key, keyString } = await createKey(deps(), await newKey())
    await revokeKey(deps(), key.id, key.name)
    const { message } = await failure('invalid_request', rotateKey(deps(), key.id))
    assert.match(message, /"nightly" is revoked/)
    assert.equal(await authenticateKey(deps(), keyString), null)
    assert.equal((await requireKey(deps(), key.id)).rotatedAt, null)
  })

  it('is refused from the instant at which the key expires', async () => {
    const { key } = await createKey(deps(), await newKey({ expiresAt: deps().clock() + 10 }))
    passTime(9)
    await rotateKey(deps(), key.id)
    passTime(1)
    const { message } = await failure('invalid_request', rotateKey(deps(), key.id))
    assert.match(message, /"nightly" is expired/)
  })

  it('is not found without the key', async () => {
    const { message } = await failure('not_found', rotateKey(deps(), 'nothing'))
    assert.equal(message, 'There is no key "nothing".')
  })
})

describe('revoking a key', () => {
  it('ends it for good when its name is typed', async () => {
    const { key, keyString } = await createKey(deps(), await newKey())
    passTime(5)
    const revoked = await revokeKey(deps(), key.id, 'nightly')
    assert.deepEqual(revoked, { ...key, revokedAt: deps().clock() })
    assert.equal(await authenticateKey(deps(), keyString), null)
    const { message } = await failure('invalid_request', revokeKey(deps(), key.id, 'nightly'))
    assert.match(message, /"nightly" is revoked/)
  })

  for (const typed of ['', 'Nightly', 'nightly ', 'night']) {
    it(`does nothing when "${typed}" is typed for "nightly"`, async () => {
      const { key, keyString } = await createKey(deps(), await newKey())
      const { fields } = await failure('validation_error', revokeKey(deps(), key.id, typed))
      assert.deepEqual(fields, { name: 'the name typed is not the name of this key; nothing was revoked' })
      assert.deepEqual((await authenticateKey(deps(), keyString))?.key, key)
    })
  }

  it('is refused for an expired key', async () => {
    const { key } = await createKey(deps(), await newKey({ expiresAt: deps().clock() + 10 }))
    passTime(10)
    const { message } = await failure('invalid_request', revokeKey(deps(), key.id, key.name))
    assert.match(message, /"nightly" is expired/)
  })

  it('is not found without the key', async () => {
    await failure('not_found', revokeKey(deps(), 'nothing', 'nightly'))
  })
})

describe('a key string', () => {
  it('belongs to nobody when it is malformed, or of a key that does not exist', async () => {
    const { keyString } = await createKey(deps(), await newKey())
    assert.equal(await authenticateKey(deps(), ''), null)
    assert.equal(await authenticateKey(deps(), keyString.slice(0, -1)), null)
    const { keyString: unknown } = await createKey(
      { ...deps(), apiKeys: { ...deps().apiKeys, create: async () => true } },
      await newKey(),
    )
    assert.notEqual(readKeyId(unknown), null)
    assert.equal(await authenticateKey(deps(), unknown), null)
  })

  it('stops working at the instant at which its key expires', async () => {
    const { key, keyString } = await createKey(deps(), await newKey({ expiresAt: deps().clock() + 10 }))
    passTime(9)
    assert.deepEqual((await authenticateKey(deps(), keyString))?.key, key)
    passTime(1)
    assert.equal(await authenticateKey(deps(), keyString), null)
  })
})
