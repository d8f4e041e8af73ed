import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readConfig } from '../../../src/config.ts'
import { readKeyId } from '../../../src/domain/key-string.ts'
import { rotateKey } from '../../../src/operations/key/rotate-key.ts'
import { openServices } from '../../../src/services.ts'
import { dataOf, errorOf } from '../../support/answers.ts'
import { freshDatabase } from '../../support/fresh-database.ts'
import { inReverse } from '../../support/in-reverse.ts'
import { noRedisOfOurOwn, startRedis } from '../../support/redis.ts'
import { subjectsPath } from '../../support/shop.ts'
import { testSecretFile } from '../../support/test-keyring.ts'
import { roomy } from '../kill/server.ts'
import { buildShopAt } from '../kill/shop-store.ts'
import { ask, startFleet } from './fleet.ts'

/** Rotates a key so many times, and asks another process each time. */
export function rotationTests(times: number): void {
  describe('three processes on one PostgreSQL and one Redis', { skip: noRedisOfOurOwn }, () => {
    test(`each refuse a rotated key’s old string at the very next request, ${times} times in a row`, async (t) => {
      const lifetime = inReverse(t)
      const { url: redis } = await startRedis(lifetime)
      const store = await freshDatabase(lifetime)
      await buildShopAt(store)
      const { places, key } = await startFleet(lifetime, { store, redis, env: roomy })
      // Keys are rotated by a process of their own, as `lethe keys rotate` is.
      const elsewhere = await openServices(
        readConfig({ LETHE_STORE: store, LETHE_SECRET_FILE: testSecretFile() }),
      )
      lifetime.after(() => elsewhere.close())
      const id = readKeyId(key)
      assert.ok(id)

      let current = key
      for (let round = 0; round < times; round++) {
        // The first of the two was the second of the round before: it has just let the string in that is now replaced.
        const [first, second] = [places[round % 3], places[(round + 1) % 3]]
        assert.ok(first && second)
        const { keyString } = await rotateKey(elsewhere, id)
        errorOf(await ask(first.server.url, subjectsPath, { key: current }), 'unauthorized')
        dataOf(await ask(first.server.url, subjectsPath, { key: keyString }))
        dataOf(await ask(second.server.url, subjectsPath, { key: keyString }))
        current = keyString
      }
    })
  })
}
