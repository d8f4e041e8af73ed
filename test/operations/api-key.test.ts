import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  authenticateKey,
  createKey,
  type NewKey,
  revokeKey,
  rotateKey,
} from '../../src/operations/api-key.ts'
import { failure, openDeps } from './fixture.ts'

const { deps, passTime, fresh } = openDeps()

async function newKey(fields: Partial<NewKey> = {}): Promise<NewKey> {
  const organisationId = fields.organisationId ?? fresh('organisation')
  await deps().organisations.create({ id: organisationId, name: 'Acme', plan: 'free', createdAt: 1 })
  return { name: 'nightly', scopes: ['analytics:view'], expiresAt: null, ...fields, organisationId }
}

describe('creating a key', () => {
  it('reports all problems together', async () => {
    const wanted = await newKey({ name: ' ', scopes: ['analytics:edit'], expiresAt: deps().clock() })
    const { fields } = await failure('validation_error', createKey(deps(), wanted))
    assert.deepEqual(fields, {
      name: 'name must be 1 to 64 characters, no control characters',
      scope:
        '"analytics:edit" is not a scope; the scopes are analytics:view, analytics:collect, analytics:manage-requests, analytics:delete-data',
      expiresAt: 'expiresAt must be in the future',
    })
    assert.deepEqual(await deps().apiKeys.list(wanted.organisationId), [])
  })

  it('accepts a name of at most 64 characters', async () => {
    await createKey(deps(), await newKey({ name: '🦦'.repeat(64) }))
    const wanted = await newKey({ name: 'a'.repeat(65) })
    assert.deepEqual(Object.keys((await failure('validation_error', createKey(deps(), wanted))).fields), [
      'name',
    ])
  })

  it('accepts an expiry one millisecond ahead', async () => {
    const { key } = await createKey(deps(), await newKey({ expiresAt: deps().clock() + 1 }))
    assert.equal(key.expiresAt, deps().clock() + 1)
  })

  it('fails for an unknown organisation', async () => {
    const wanted = { organisationId: 'nobody', name: 'nightly', scopes: ['analytics:view'], expiresAt: null }
    const { message } = await failure('not_found', createKey(deps(), wanted))
    assert.equal(message, 'There is no organisation "nobody".')
  })
})

describe('rotating a key', () => {
  it('is refused from the exact expiry of the key', async () => {
    const { key } = await createKey(deps(), await newKey({ expiresAt: deps().clock() + 10 }))
    passTime(9)
    await rotateKey(deps(), key.id)
    passTime(1)
    const { message } = await failure('invalid_request', rotateKey(deps(), key.id))
    assert.match(message, /"nightly" is expired/)
  })

  it('fails for an unknown key', async () => {
    const { message } = await failure('not_found', rotateKey(deps(), 'nothing'))
    assert.equal(message, 'There is no key "nothing".')
  })
})

describe('revoking a key', () => {
  it('is refused for an expired key', async () => {
    const { key } = await createKey(deps(), await newKey({ expiresAt: deps().clock() + 10 }))
    passTime(10)
    const { message } = await failure('invalid_request', revokeKey(deps(), key.id, key.name))
    assert.match(message, /"nightly" is expired/)
  })

  it('fails for an unknown key', async () => {
    await failure('not_found', revokeKey(deps(), 'nothing', 'nightly'))
  })
})

describe('the string of a key', () => {
  it('stops working at the exact expiry of its key', async () => {
    const { key, keyString } = await createKey(deps(), await newKey({ expiresAt: deps().clock() + 10 }))
    passTime(9)
    assert.deepEqual((await authenticateKey(deps(), keyString))?.key, key)
    passTime(1)
    assert.equal(await authenticateKey(deps(), keyString), null)
  })
})
