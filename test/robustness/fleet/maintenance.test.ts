import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { freshStore } from '../../support/fresh-database.ts'
import { inReverse } from '../../support/in-reverse.ts'
import { noRedisOfOurOwn, startRedis } from '../../support/redis.ts'
import { anHourAgo, visit } from '../../support/shop.ts'
import { until } from '../../support/until.ts'
import { roomy } from '../kill/server.ts'
import { buildShopAt } from '../kill/shop-store.ts'
import { startFleet } from './fleet.ts'

const twoHundredDaysMs = 200 * 86_400_000
const sweepSeconds = 1

/** Who waits for the row of a subject: whoever sweeps it. */
const waiting = `SELECT DISTINCT application_name AS name FROM pg_stat_activity WHERE datname = current_database()
  AND application_name LIKE 'lethe-_' AND wait_event_type = 'Lock' AND query LIKE '%FOR UPDATE%'`

describe('the maintenance of three processes', { skip: noRedisOfOurOwn }, () => {
  test('is done by one at a time, and by another as soon as that one is killed in the middle of it', async (t) => {
    const lifetime = inReverse(t)
    const { url: redis } = await startRedis(lifetime)
    const store = await freshStore(lifetime)
    await buildShopAt(store, visit('aged', { startedAt: anHourAgo - twoHundredDaysMs, events: 5 }))
    const [holder, watcher] = [new Client(store), new Client(store)]
    for (const client of [holder, watcher]) {
      await client.connect()
      lifetime.after(() => client.end())
    }
    // Whoever sweeps has to wait for us, so a sweep lasts as long as we like.
    await holder.query('BEGIN; SELECT FROM subjects FOR UPDATE')
    const env = { ...roomy, LETHE_SWEEP_SECONDS: String(sweepSeconds) }
    const { places } = await startFleet(lifetime, { store, redis, env })

    /** The living processes that sweep. What a killed one has asked for waits on. */
    async function sweeping() {
      const { rows } = await watcher.query<{ name: string }>(waiting)
      const living = places.filter(({ server }) => !server.isKilled)
      return living.filter(({ name }) => rows.some((row) => row.name === `lethe-${name}`))
    }

    for (const left of [3, 2, 1]) {
      await until(async () => (await sweeping()).length > 0)
      const [sweeper, ...others] = await sweeping()
      assert.ok(sweeper)
      // The others come by twice in this time.
      const later = performance.now() + 2.2 * sweepSeconds * 1_000
      while (performance.now() < later) {
        assert.deepEqual(await sweeping(), [sweeper])
        await delay(20)
      }
      assert.deepEqual(others, [])
      if (left > 1) await sweeper.kill()
    }
    await holder.query('ROLLBACK')
    await until(async () => (await watcher.query('SELECT FROM subjects')).rowCount === 0)
    const survivors = places.filter(({ server }) => !server.isKilled)
    assert.deepEqual(
      survivors.map(({ server }) => /"level":50/.test(server.stdout())),
      [false],
    )
  })
})
