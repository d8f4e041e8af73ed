import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { openStoreAt } from '../../support/empty-store.ts'
import { inReverse } from '../../support/in-reverse.ts'
import type { Lifetime } from '../../support/service.ts'
import { anHourAgo, visit } from '../../support/shop.ts'
import { testKeys } from '../../support/test-keyring.ts'
import { until } from '../../support/until.ts'
import type { Fleet } from './fleet.ts'

const twoHundredDaysMs = 200 * 86_400_000
/** The interval at which each process tries to sweep. */
export const sweepSeconds = 1

/** The names of the processes that wait for the row of a subject, which only a sweep does. */
const waiting = `SELECT DISTINCT application_name AS name FROM pg_stat_activity WHERE datname = current_database()
  AND application_name LIKE 'lethe-_' AND wait_event_type = 'Lock' AND query LIKE '%FOR UPDATE%'`

/** Fails unless one process sweeps at a time, and another takes over when it is killed. One stays alive. */
export async function sweepByOne(t: Lifetime, { store, places }: Fleet): Promise<void> {
  const lifetime = inReverse(t)
  const [holder, watcher] = [new Client(store), new Client(store)]
  for (const client of [holder, watcher]) {
    await client.connect()
    lifetime.after(() => client.end())
  }
  await holdAged(store, holder)

  /** The living processes that sweep. Queries of a killed one keep waiting. */
  async function sweeping() {
    const { rows } = await watcher.query<{ name: string }>(waiting)
    const living = places.filter(({ server }) => !server.isKilled)
    return living.filter(({ name }) => rows.some((row) => row.name === `lethe-${name}`))
  }

  for (const left of [3, 2, 1]) {
    await until(async () => (await sweeping()).length > 0)
    const [sweeper, ...others] = await sweeping()
    assert.ok(sweeper)
    assert.deepEqual(others, [])
    if (left === 1) break
    // The other processes try twice in this time, while the sweep waits for the lock.
    await delay(2.2 * sweepSeconds * 1_000)
    assert.deepEqual(await sweeping(), [sweeper])
    await sweeper.kill()
  }
  await holder.query('ROLLBACK')
  await until(async () => (await watcher.query('SELECT FROM subjects')).rowCount === 0)
  const survivors = places.filter(({ server }) => !server.isKilled)
  assert.deepEqual(
    survivors.map(({ server }) => /"level":50/.test(server.stdout())),
    [false],
  )
}

/** Stores a subject that has aged out and locks it, so that a sweep must wait. */
async function holdAged(address: string, holder: Client): Promise<void> {
  const store = await openStoreAt(address)
  try {
    await until(async () => {
      await store.ingest.ingest(
        visit('aged', { startedAt: anHourAgo - twoHundredDaysMs, events: 5 }),
        testKeys,
      )
      // A sweep may have deleted it first.
      await holder.query('ROLLBACK; BEGIN')
      return (await holder.query('SELECT FROM subjects FOR UPDATE')).rowCount === 1
    })
  } finally {
    await store.close()
  }
}
