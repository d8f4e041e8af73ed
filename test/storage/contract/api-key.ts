import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ApiKey } from '../../../src/domain/api-key.ts'
import { newApiKey } from '../../support/new-api-key.ts'
import type { Fixture } from './fixture.ts'
import { kindsOf, memberNote } from './member.ts'

const hash = '07'.repeat(32)
const otherHash = 'fe'.repeat(32)
const now = 1_794_000_000_000

export function apiKeyContract(fixture: Fixture): void {
  async function newKey(fields: Partial<ApiKey> = {}): Promise<ApiKey> {
    const organisationId = fields.organisationId ?? (await fixture.createOrganisation())
    const id = fixture.fresh('key')
    return newApiKey({ id, organisationId, name: 'nightly', createdAt: now, ...fields })
  }

  async function storedKey(fields: Partial<ApiKey> = {}): Promise<ApiKey> {
    const key = await newKey(fields)
    assert.equal(await fixture.store.apiKeys.create(key, hash), true)
    return key
  }

  async function assertHolds(key: ApiKey, expectedHash: string): Promise<void> {
    const found = await fixture.store.apiKeys.findCaller(key.id)
    assert.ok(found)
    assert.deepEqual(found.key, key)
    assert.equal(found.hash, expectedHash)
  }

  describe('an API key', () => {
    it('is found as it was stored, with its hash or without', async () => {
      const key = await storedKey({
        name: `"O'Neill" 🦦`,
        scopes: ['analytics:view', 'analytics:delete-data'],
        expiresAt: now + 1,
      })
      assert.deepEqual(await fixture.store.apiKeys.find(key.id), key)
      await assertHolds(key, hash)
    })

    it('is null for an unknown ID', async () => {
      assert.equal(await fixture.store.apiKeys.find('nothing'), null)
      assert.equal(await fixture.store.apiKeys.findCaller('nothing'), null)
    })

    it('cannot be stored for an organisation that does not exist', async () => {
      const key = await newKey({ organisationId: 'nobody' })
      assert.equal(await fixture.store.apiKeys.create(key, hash), false)
      assert.equal(await fixture.store.apiKeys.find(key.id), null)
    })

    it('cannot replace another with the same ID', async () => {
      const key = await storedKey()
      await assert.rejects(fixture.store.apiKeys.create({ ...key, name: 'other' }, otherHash))
      await assertHolds(key, hash)
    })

    it('is listed with all others of its organisation, oldest first, in any state', async () => {
      const organisationId = await fixture.createOrganisation()
      const young = await storedKey({ organisationId, name: 'young', createdAt: now + 9 })
      const old = await storedKey({ organisationId, name: 'old', createdAt: now - 9 })
      const expired = await storedKey({ organisationId, name: 'expired', createdAt: now, expiresAt: now + 1 })
      await storedKey({ name: 'foreign' })
      await fixture.store.apiKeys.revoke(old.id, now)
      assert.deepEqual(await fixture.store.apiKeys.list(organisationId), [
        { ...old, revokedAt: now },
        expired,
        young,
      ])
      assert.deepEqual(await fixture.store.apiKeys.list('nobody'), [])
    })
  })

  describe('the name of an API key', () => {
    it('cannot be that of another active key of the organisation', async () => {
      const first = await storedKey()
      const second = await newKey({ organisationId: first.organisationId })
      assert.equal(await fixture.store.apiKeys.create(second, otherHash), false)
      assert.equal(await fixture.store.apiKeys.find(second.id), null)
      assert.deepEqual(await fixture.store.apiKeys.list(first.organisationId), [first])
    })

    it('can be that of another organisation’s key', async () => {
      const first = await storedKey()
      const second = await storedKey({ name: first.name })
      assert.notEqual(second.organisationId, first.organisationId)
    })

    it('can differ only in case', async () => {
      const first = await storedKey({ name: 'nightly' })
      await storedKey({ organisationId: first.organisationId, name: 'Nightly' })
    })

    it('can be used again once the key is revoked', async () => {
      const first = await storedKey()
      await fixture.store.apiKeys.revoke(first.id, now)
      await storedKey({ organisationId: first.organisationId })
      const third = await newKey({ organisationId: first.organisationId })
      assert.equal(await fixture.store.apiKeys.create(third, hash), false)
    })

    it('can be used again from the instant at which the key expires', async () => {
      const first = await storedKey({ expiresAt: now + 1_000 })
      const { organisationId } = first
      const early = await newKey({ organisationId, createdAt: now + 999 })
      assert.equal(await fixture.store.apiKeys.create(early, hash), false)
      await storedKey({ organisationId, createdAt: now + 1_000 })
    })

    it('is given to only one key if many are created concurrently', async () => {
      const organisationId = await fixture.createOrganisation()
      const keys = await Promise.all(Array.from({ length: 10 }, () => newKey({ organisationId })))
      const created = await Promise.all(keys.map((key) => fixture.store.apiKeys.create(key, hash)))
      assert.equal(created.filter(Boolean).length, 1)
      assert.equal((await fixture.store.apiKeys.list(organisationId)).length, 1)
    })
  })

  describe('rotating an API key', () => {
    const proof = { hash: otherHash, lastFour: '1234' }

    it('replaces its hash and last four characters together, and nothing else', async () => {
      const [key, other] = [await storedKey({ expiresAt: now + 100 }), await storedKey()]
      await assertHolds(key, hash)
      assert.equal(await fixture.store.apiKeys.rotate(key.id, proof, now + 5), now + 5)
      await assertHolds({ ...key, lastFour: '1234', rotatedAt: now + 5 }, otherHash)
      await assertHolds(other, hash)
    })

    it('can be done again and again', async () => {
      const key = await storedKey()
      await fixture.store.apiKeys.rotate(key.id, proof, now + 5)
      assert.equal(await fixture.store.apiKeys.rotate(key.id, { hash, lastFour: 'last' }, now + 6), now + 6)
      await assertHolds({ ...key, lastFour: 'last', rotatedAt: now + 6 }, hash)
    })

    it('is later than the previous rotation, even if the clock was set back', async () => {
      const { apiKeys } = fixture.store
      const key = await storedKey({ expiresAt: now + 100 })
      assert.equal(await apiKeys.rotate(key.id, proof, now + 50), now + 50)
      assert.equal(await apiKeys.rotate(key.id, { hash, lastFour: 'last' }, now), now + 51)
      await assertHolds({ ...key, lastFour: 'last', rotatedAt: now + 51 }, hash)
      assert.equal(await apiKeys.rotate(key.id, proof, now + 51), now + 52)
    })

    it('changes nothing when the key is revoked', async () => {
      const key = await storedKey()
      await fixture.store.apiKeys.revoke(key.id, now)
      assert.equal(await fixture.store.apiKeys.rotate(key.id, proof, now + 5), null)
      await assertHolds({ ...key, revokedAt: now }, hash)
    })

    it('changes nothing from the instant at which the key expires', async () => {
      const key = await storedKey({ expiresAt: now + 100 })
      assert.equal(await fixture.store.apiKeys.rotate(key.id, proof, now + 100), null)
      await assertHolds(key, hash)
      assert.equal(await fixture.store.apiKeys.rotate(key.id, proof, now + 99), now + 99)
    })

    it('is null for a key that does not exist', async () => {
      assert.equal(await fixture.store.apiKeys.rotate('nothing', proof, now), null)
    })
  })

  describe('revoking an API key', () => {
    it('records the time in one step, and changes nothing else', async () => {
      const [key, other] = [await storedKey(), await storedKey()]
      assert.equal(await fixture.store.apiKeys.revoke(key.id, now + 5), true)
      await assertHolds({ ...key, revokedAt: now + 5 }, hash)
      await assertHolds(other, hash)
    })

    it('is final: the second time changes nothing', async () => {
      const key = await storedKey()
      await fixture.store.apiKeys.revoke(key.id, now + 5)
      assert.equal(await fixture.store.apiKeys.revoke(key.id, now + 6), false)
      await assertHolds({ ...key, revokedAt: now + 5 }, hash)
    })

    it('changes nothing from the instant at which the key expires', async () => {
      const key = await storedKey({ expiresAt: now + 100 })
      assert.equal(await fixture.store.apiKeys.revoke(key.id, now + 100), false)
      await assertHolds(key, hash)
    })

    it('is false for a key that does not exist', async () => {
      assert.equal(await fixture.store.apiKeys.revoke('nothing', now), false)
    })
  })

  describe('renaming an API key', () => {
    const rename = ({ id, organisationId }: ApiKey, name: string, at = now) =>
      fixture.store.apiKeys.rename(
        { id, organisationId },
        name,
        at,
        memberNote(fixture, organisationId, 'key.renamed'),
      )

    it('changes only its name, and is recorded in the activity', async () => {
      const key = await storedKey()
      assert.equal(await rename(key, `"O'Neill" 🦦`), 'renamed')
      await assertHolds({ ...key, name: `"O'Neill" 🦦` }, hash)
      assert.deepEqual(await kindsOf(fixture, key.organisationId), ['key.renamed'])
    })

    it('refuses the name of another active key, but not of a key that has ended', async () => {
      const key = await storedKey()
      const { organisationId } = key
      const other = await storedKey({ organisationId, name: 'hourly', expiresAt: now + 100 })
      assert.equal(await rename(key, 'hourly'), 'taken')
      await assertHolds(key, hash)
      assert.deepEqual(await kindsOf(fixture, organisationId), [])
      assert.equal(await rename(key, 'hourly', now + 100), 'renamed')
      await assertHolds(other, hash)
    })

    it('accepts the name of another organisation’s key, and its own', async () => {
      const [key, theirs] = [await storedKey({ name: 'mine' }), await storedKey({ name: 'theirs' })]
      assert.equal(await rename(key, theirs.name), 'renamed')
      assert.equal(await rename(key, theirs.name), 'renamed')
    })

    it('changes nothing for a key that is revoked, expired, unknown or another organisation’s', async () => {
      const revoked = await storedKey()
      await fixture.store.apiKeys.revoke(revoked.id, now)
      assert.equal(await rename(revoked, 'again'), 'absent')
      const expiring = await storedKey({ expiresAt: now + 100 })
      assert.equal(await rename(expiring, 'again', now + 100), 'absent')
      const organisationId = await fixture.createOrganisation()
      assert.equal(await rename({ ...expiring, organisationId }, 'again'), 'absent')
      assert.equal(await rename({ ...expiring, id: 'nothing' }, 'again'), 'absent')
      await assertHolds(expiring, hash)
    })

    it('gives a name to only one key, among concurrent renames and creations', async () => {
      const organisationId = await fixture.createOrganisation()
      const names = ['a', 'b', 'c', 'd']
      const keys = await Promise.all(names.map((name) => storedKey({ organisationId, name })))
      const created = await newKey({ organisationId, name: 'wanted' })
      await Promise.all([
        ...keys.map((key) => rename(key, 'wanted')),
        fixture.store.apiKeys.create(created, hash),
      ])
      const named = (await fixture.store.apiKeys.list(organisationId)).filter(({ name }) => name === 'wanted')
      assert.equal(named.length, 1)
    })
  })

  describe('recording the use of API keys', () => {
    it('stores the time for each key', async () => {
      const [a, b, unused] = [await storedKey(), await storedKey(), await storedKey()]
      await fixture.store.apiKeys.touch(
        new Map([
          [a.id, now + 1],
          [b.id, now + 2],
        ]),
      )
      await assertHolds({ ...a, lastUsedAt: now + 1 }, hash)
      await assertHolds({ ...b, lastUsedAt: now + 2 }, hash)
      await assertHolds(unused, hash)
    })

    it('never moves the time back', async () => {
      const key = await storedKey()
      for (const at of [now + 5, now + 4, now + 5]) {
        await fixture.store.apiKeys.touch(new Map([[key.id, at]]))
        await assertHolds({ ...key, lastUsedAt: now + 5 }, hash)
      }
      await fixture.store.apiKeys.touch(new Map([[key.id, now + 6]]))
      await assertHolds({ ...key, lastUsedAt: now + 6 }, hash)
    })

    it('ignores keys that do not exist', async () => {
      const key = await storedKey()
      await fixture.store.apiKeys.touch(
        new Map([
          ['nothing', now],
          [key.id, now],
        ]),
      )
      await assertHolds({ ...key, lastUsedAt: now }, hash)
      assert.equal(await fixture.store.apiKeys.find('nothing'), null)
    })

    it('counts the uses of each day, and deletes old days', async () => {
      const [a, b] = [await storedKey(), await storedKey()]
      const { apiKeys } = fixture.store
      const day = (keyId: string, day: number, requests: number, refusals = 0) => ({
        keyId,
        day,
        requests,
        refusals,
      })
      await apiKeys.touch(new Map([[a.id, now]]), [
        day(a.id, 100, 5, 1),
        day(b.id, 100, 1),
        day('nothing', 100, 9),
      ])
      await Promise.all(
        [1, 2, 3].map((count) => apiKeys.touch(new Map(), [day(a.id, 100, count, 1), day(a.id, 101, 1)])),
      )
      assert.deepEqual(await apiKeys.listDays(a.id, 0), [day(a.id, 100, 11, 4), day(a.id, 101, 3)])
      assert.deepEqual(await apiKeys.listDays(a.id, 101), [day(a.id, 101, 3)])
      assert.deepEqual(await apiKeys.listDays('nothing', 0), [])
      await apiKeys.touch(new Map(), [day(a.id, 501, 1)])
      assert.deepEqual(await apiKeys.listDays(a.id, 0), [day(a.id, 501, 1)])
      assert.deepEqual(await apiKeys.listDays(b.id, 0), [day(b.id, 100, 1)])
    })

    it('does nothing without uses', async () => {
      await fixture.store.apiKeys.touch(new Map())
    })
  })
}
