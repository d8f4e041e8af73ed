import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { commandLine } from '../../support/command-line.ts'
import { inReverse } from '../../support/in-reverse.ts'
import { startPostgres, startStandby } from '../../support/postgres.ts'
import { askRaw } from '../../support/raw-http.ts'
import { subjectPath, visit } from '../../support/shop.ts'
import { until } from '../../support/until.ts'
import { assertGone, queryable, withDatabase } from '../fleet/fleet.ts'
import { assertSound } from '../kill/invariants.ts'
import { createKey, startRoomyServer, stopServer } from '../kill/server.ts'
import { buildShopAt, ids } from '../kill/visits.ts'
import { openRelay } from './relay.ts'

describe('a PostgreSQL server that fails over to its standby', () => {
  it('loses no erasure that was answered, and the service recovers automatically', async (t) => {
    const lifetime = inReverse(t)
    const doomed = ids('doomed', 400)
    const primary = await startPostgres({})
    lifetime.after(primary.remove)
    await buildShopAt(
      primary.url,
      [...doomed, 'keeper'].flatMap((id) => visit(id, { events: 5 })),
    )
    const standby = await startStandby(primary)
    lifetime.after(standby.remove)
    // From now on, commits wait for the standby.
    await withDatabase(primary.url, async (client) => {
      await client.query("ALTER SYSTEM SET synchronous_standby_names = '*'")
      await client.query('SELECT pg_reload_conf()')
      await until(async () => {
        const { rows } = await client.query('SELECT sync_state FROM pg_stat_replication')
        return rows[0]?.sync_state === 'sync'
      })
    })
    const relay = await openRelay(lifetime, primary.url)
    const cli = commandLine(lifetime, relay.url)
    const key = await createKey(cli)
    const server = await startRoomyServer(cli)
    const ask = (path: string, method = 'GET') => askRaw(server.url, path, { key, method })

    const answered: string[] = []
    const statuses = new Map<number, number>()
    async function eraseAll(): Promise<void> {
      for (let id = doomed.pop(); id !== undefined; id = doomed.pop()) {
        const { status } = await ask(subjectPath(id), 'DELETE')
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        if (status === 200) answered.push(id)
        else doomed.push(id)
        if (status !== 200) await delay(20)
      }
    }
    const erasures = Promise.all([eraseAll(), eraseAll(), eraseAll()])
    await until(() => answered.length > 100)
    await primary.stop('killed')
    const notReady = await ask('/readyz')
    await withDatabase(standby.url, (client) => client.query('SELECT pg_promote()'))
    relay.leadTo(standby.url)
    const promotedAt = performance.now()
    await until(async () => (await ask('/readyz')).status === 200)
    const recoveredMs = performance.now() - promotedAt
    await erasures

    assert.equal(notReady.status, 500)
    assert.match(JSON.stringify(notReady.body), /The store does not answer/)
    assert.deepEqual([...statuses.keys()].sort(), [200, 500])
    assert.match(server.stdout(), /"level":50.*"msg":"request failed"/)
    await withDatabase(standby.url, async (client) => {
      await assertGone(client, answered)
      await assertSound(
        queryable((sql) => client.query(sql)),
        'not below the stored rows',
      )
    })
    assert.equal((await ask(subjectPath('keeper'))).status, 200)
    t.diagnostic(`${JSON.stringify([...statuses])}, ready ${Math.round(recoveredMs)} ms after the promotion`)
    await stopServer(server)
  })
})
