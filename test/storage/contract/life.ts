import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { Store } from '../../../src/domain/store.ts'

/** Opening and closing affect the whole store, so these tests use a separate one. */
export function lifeContract(folder: string, open: (folder: string) => Promise<Store>): void {
  describe('a store', () => {
    const path = join(folder, 'life')
    const acme = { id: 'acme', name: 'Acme', plan: 'pro' as const, createdAt: 7 }

    it('is empty at first, and answers until it is closed', async () => {
      const store = await open(path)
      await store.ping()
      assert.deepEqual(await store.organisations.list(), [])
      await store.close()
      await assert.rejects(store.ping())
    })

    it('finishes its work before it closes, and keeps its data when it is reopened', async () => {
      const store = await open(path)
      await store.organisations.create(acme)
      const writes = Array.from({ length: 30 }, (_, i) =>
        store.trackers.create({ id: `shop-${i}`, organisationId: acme.id, name: 'Shop', createdAt: i }),
      )
      await store.close()
      assert.deepEqual(await Promise.all(writes), Array(30).fill(true))
      const reopened = await open(path)
      assert.deepEqual(await reopened.organisations.list(), [acme])
      assert.equal((await reopened.trackers.list(acme.id)).length, 30)
      await reopened.close()
    })

    it('can be closed without having been used', async () => {
      const store = await open(path)
      await store.close()
    })
  })
}
