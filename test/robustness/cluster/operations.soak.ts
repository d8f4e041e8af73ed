import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import {
  addWorker,
  type Cluster,
  citusPrograms,
  citusSettings,
  startCluster,
  startNode,
} from '../../support/citus.ts'
import { type CommandLine, commandLine, type RunningProgram } from '../../support/command-line.ts'
import { inReverse } from '../../support/in-reverse.ts'
import { type PostgresServer, startStandby } from '../../support/postgres.ts'
import { query } from '../../support/raw-postgres.ts'
import { visit } from '../../support/shop.ts'
import { until } from '../../support/until.ts'
import { assertGone, queryable, withDatabase } from '../fleet/fleet.ts'
import { assertSound } from '../kill/invariants.ts'
import { startRoomyServer, stopServer } from '../kill/server.ts'
import { buildShopAt, ids } from '../kill/visits.ts'
import { type ClusterLoad, createLoadKey, readStatus, startLoad, summary } from './cluster-load.ts'

const programs = citusPrograms()
const kept = ids('kept', 200)
const nodeSettings = { wal_level: 'logical', 'citus.shard_count': '8' }

// The tests run in this order: each continues with the cluster as the previous one left it.
describe('a cluster that is changed while it serves', {
  skip: !programs && 'no Citus extension is installed',
}, () => {
  const lifetime = inReverse({ after })
  let cluster: Cluster
  let store = ''
  let cli: CommandLine
  let key = ''
  let server: RunningProgram & { url: string }
  before(async () => {
    cluster = await startCluster(lifetime, programs ?? '')
    store = cluster.coordinator.url
    const rows = [...kept, ...ids('doomed', 5_000)].flatMap((id) => visit(id, { events: 20 }))
    await buildShopAt(store, rows)
    cli = commandLine(lifetime, store)
    key = await createLoadKey(cli)
    server = await startRoomyServer(cli)
  })

  const read = (id: string) => readStatus(server.url, key, id).catch(() => 0)

  /** Fails if something acknowledged was lost, or if the store is inconsistent. */
  async function assertKept(load: ClusterLoad): Promise<void> {
    await withDatabase(store, async (client) => {
      await assertGone(client, load.erased)
      await assertSound(
        queryable((sql) => client.query(sql)),
        'not below the stored rows',
      )
    })
    for (const id of [...kept, ...load.stored]) assert.equal(await read(id), 200, id)
  }
  const rowsIn = async (table: string) =>
    Number((await query(store, `SELECT count(*) FROM ${table}`))[0]?.count)

  /** Starts a synchronous standby of a node. */
  async function startSynchronousStandby(node: PostgresServer): Promise<PostgresServer> {
    const standby = await startStandby(node, { ...citusSettings, ...nodeSettings })
    lifetime.after(() => standby.remove())
    await withDatabase(node.url, async (client) => {
      await client.query("ALTER SYSTEM SET synchronous_standby_names = '*'")
      await client.query('SELECT pg_reload_conf()')
      await until(async () => {
        const { rows } = await client.query('SELECT sync_state FROM pg_stat_replication')
        return rows[0]?.sync_state === 'sync'
      })
    })
    return standby
  }
  const answersAll = async () =>
    (await Promise.all(kept.slice(0, 40).map(read))).every((status) => status === 200)

  it('is distributed under load, even after the command was killed', async (t) => {
    const load = startLoad(() => server.url, key, ids('doomed', 5_000).slice(0, 500), kept)
    t.after(() => load.stop())
    await until(() => load.erased.length > 20)
    t.diagnostic(`before: ${summary(load)}`)
    load.forget()
    for (const afterMs of [400, 800, 1_600]) {
      const command = cli.startProgram(['migrate', '--distributed'])
      await delay(afterMs)
      command.kill('SIGKILL')
      await command.ended
    }
    const from = performance.now()
    const { code, stderr } = await cli.startProgram(['migrate', '--distributed']).ended
    assert.equal(code, 0, stderr)
    t.diagnostic(`distributed in ${Math.round(performance.now() - from)} ms; meanwhile: ${summary(load)}`)
    load.forget()
    await delay(1_000)
    t.diagnostic(`before the restart: ${summary(load)}`)
    load.forget()
    await stopServer(server)
    server = await startRoomyServer(cli)
    await delay(1_000)
    t.diagnostic(`after the restart: ${summary(load)}`)
    await load.stop()
    await assertKept(load)
  })

  it('gets another worker, to which shards move under load', async (t) => {
    const load = startLoad(() => server.url, key, ids('doomed', 5_000).slice(500, 2_500), kept)
    t.after(() => load.stop())
    await until(() => load.erased.length > 20)
    t.diagnostic(`before: ${summary(load)}`)
    load.forget()
    const worker = await startNode(lifetime, programs ?? '', nodeSettings)
    await addWorker(cluster.coordinator, worker)
    const from = performance.now()
    await query(store, 'SELECT citus_rebalance_start()')
    await query(store, 'SELECT citus_rebalance_wait()')
    t.diagnostic(`rebalanced in ${Math.round(performance.now() - from)} ms; meanwhile: ${summary(load)}`)
    const placed = await query(
      store,
      `SELECT nodeport, count(*)::int FROM citus_shards WHERE table_name = 'events'::regclass GROUP BY 1`,
    )
    t.diagnostic(JSON.stringify(placed))
    assert.equal(placed.length, 3)
    for (const { statuses } of Object.values(load.kinds)) assert.deepEqual([...statuses.keys()], [200])
    await load.stop()
    await assertKept(load)
  })

  it('continues with the standby of a worker', async (t) => {
    const [worker] = cluster.workers
    const standby = await startSynchronousStandby(worker)
    await until(answersAll)
    const load = startLoad(() => server.url, key, ids('doomed', 5_000).slice(2_500, 3_500), kept)
    t.after(() => load.stop())
    await until(() => load.erased.length > 50)
    load.forget()
    await worker.stop('killed')
    await until(() => (load.kinds.read.statuses.get(500) ?? 0) > 0)
    const [before, after] = [worker, standby].map(({ url }) => new URL(url).port)
    await query(standby.url, 'SELECT pg_promote()')
    const promotedAt = performance.now()
    await query(
      store,
      `SELECT citus_update_node(nodeid, '127.0.0.1', ${after}) FROM pg_dist_node WHERE nodeport = ${before}`,
    )
    await until(answersAll)
    t.diagnostic(`all answered ${Math.round(performance.now() - promotedAt)} ms after the promotion`)
    await query(store, 'SELECT recover_prepared_transactions()')
    const erased = load.erased.length
    await until(() => load.erased.length > erased + 50)
    await load.stop()
    t.diagnostic(summary(load))
    await assertKept(load)
  })

  it('continues with the standby of its coordinator', async (t) => {
    await stopServer(server)
    const standby = await startSynchronousStandby(cluster.coordinator)
    const [first, second] = [new URL(store), new URL(standby.url)]
    const both = `${store.replace(first.host, `${first.host},${second.host}`)}?target_session_attrs=read-write`
    const start = () => startRoomyServer(cli, { LETHE_STORE: both })
    server = await start()
    const load = startLoad(() => server.url, key, ids('doomed', 5_000).slice(3_500), kept)
    t.after(() => load.stop())
    await until(() => load.erased.length > 50)
    load.forget()
    const rows = await rowsIn('subjects')
    assert.ok(rows > 0)
    await cluster.coordinator.stop('killed')
    await query(standby.url, 'SELECT pg_promote()')
    const promotedAt = performance.now()
    await query(
      standby.url,
      `SELECT citus_update_node(nodeid, '127.0.0.1', ${second.port}) FROM pg_dist_node WHERE groupid = 0`,
    )
    store = standby.url
    await until(answersAll)
    t.diagnostic(`all answered ${Math.round(performance.now() - promotedAt)} ms after the promotion`)
    await query(store, 'SELECT recover_prepared_transactions()')
    await load.stop()
    t.diagnostic(summary(load))
    await assertKept(load)
  })
})
