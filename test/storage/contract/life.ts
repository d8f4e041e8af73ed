import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { Store } from '../../../src/domain/store.ts'

export function lifeContract(folder: string, open: (folder: string) => Promise<Store>): void {
  describe('a store', () => {
    it('is empty at first, and answers', async () => {
      const store = await open(join(folder, 'empty'))
      await store.ping()
      assert.deepEqual(await store.organisations.list(), [])
      await store.close()
    })

    it('keeps what was stored when it is closed and opened again', async () => {
      const organisation = { id: 'acme', name: 'Acme', plan: 'pro' as const, createdAt: 7 }
      const first = await open(join(folder, 'again'))
      await first.organisations.create(organisation)
      await first.close()
      const second = await open(join(folder, 'again'))
      assert.deepEqual(await second.organisations.list(), [organisation])
      await second.close()
    })

    it('finishes what is under way before it closes', async () => {
      const store = await open(join(folder, 'busy'))
      await store.organisations.create({ id: 'acme', name: 'Acme', plan: 'free', createdAt: 1 })
      const writes = Array.from({ length: 100 }, (_, i) =>
        store.trackers.create({ id: `tracker-${i}`, organisationId: 'acme', name: 'Shop', createdAt: i }),
      )
      await store.close()
      assert.deepEqual(await Promise.all(writes), Array(100).fill(true))
      const reopened = await open(join(folder, 'busy'))
      assert.equal((await reopened.trackers.list('acme')).length, 100)
      await reopened.close()
    })

    it('can be closed without ever having been used', async () => {
      const store = await open(join(folder, 'unused'))
      await store.close()
    })

    it('no longer answers once it is closed', async () => {
      const store = await open(join(folder, 'closed'))
      await store.close()
      await assert.rejects(store.ping())
    })
  })
}
