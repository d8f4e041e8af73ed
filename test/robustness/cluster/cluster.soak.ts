import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { type Cluster, citusPrograms, startCluster } from '../../support/citus.ts'
import { type CommandLine, commandLine, type RunningProgram } from '../../support/command-line.ts'
import { inReverse } from '../../support/in-reverse.ts'
import { query } from '../../support/raw-postgres.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { visit } from '../../support/shop.ts'
import { until } from '../../support/until.ts'
import { assertGone, queryable, withDatabase } from '../fleet/fleet.ts'
import { assertSound } from '../kill/invariants.ts'
import { startRoomyServer } from '../kill/server.ts'
import { buildShopAt, ids } from '../kill/visits.ts'
import { type ClusterLoad, createLoadKey, readStatus, startLoad, summary } from './cluster-load.ts'

const programs = citusPrograms()
const kept = ids('kept', 200)

describe('a cluster with failing nodes', { skip: !programs && 'no Citus extension is installed' }, () => {
  const lifetime = inReverse({ after })
  let cluster: Cluster
  let cli: CommandLine
  let key = ''
  let server: RunningProgram & { url: string }
  before(async () => {
    cluster = await startCluster(lifetime, programs ?? '')
    const rows = [...kept, ...ids('doomed', 3_000)].flatMap((id) => visit(id, { events: 5 }))
    await buildShopAt(cluster.coordinator.url, rows, (store) => store.maintenance.distribute())
    cli = commandLine(lifetime, cluster.coordinator.url)
    key = await createLoadKey(cli)
    server = await startRoomyServer(cli)
  })

  const read = (id: string) => readStatus(server.url, key, id).catch(() => 0)
  const answersAll = () =>
    Promise.all(kept.slice(0, 40).map(read)).then((all) => all.every((status) => status === 200))

  /** Fails if something acknowledged was lost, or if the store is inconsistent. */
  async function assertKept(load: ClusterLoad): Promise<void> {
    // A worker that restarts may not know yet that a transaction was committed.
    await query(cluster.coordinator.url, 'SELECT recover_prepared_transactions()')
    await withDatabase(cluster.coordinator.url, async (client) => {
      await assertGone(client, load.erased)
      await assertSound(
        queryable((sql) => client.query(sql)),
        'not below the stored rows',
      )
    })
    for (const id of [...kept, ...load.stored]) assert.equal(await read(id), 200, id)
  }

  it('answers 500 for subjects of a worker that is down, serves the others, and loses nothing', async (t) => {
    const load = startLoad(() => server.url, key, ids('doomed', 1_000), kept)
    t.after(() => load.stop())
    await until(() => load.erased.length > 50)
    load.forget()
    await cluster.workers[1].stop('killed')
    const both = (kind: 'read' | 'erase') =>
      [200, 500].every((status) => (load.kinds[kind].statuses.get(status) ?? 0) >= 20)
    await until(() => both('read') && both('erase'))
    // Operations that need only the coordinator still work.
    assert.equal(
      (await cli.run(['keys', 'create', '--org', 'acme', '--name', 'more', '--scope', 'analytics:view']))
        .code,
      0,
    )
    t.diagnostic(`without a worker: ${summary(load)}`)
    for (const { statuses } of Object.values(load.kinds)) {
      assert.deepEqual(
        [...statuses.keys()].filter((status) => status !== 200 && status !== 500),
        [],
      )
    }
    await cluster.workers[1].start()
    const from = performance.now()
    await until(answersAll)
    t.diagnostic(`everything is answered ${Math.round(performance.now() - from)} ms after it is back`)
    await load.stop()
    await assertKept(load)
  })

  it('loses nothing acknowledged when its nodes are killed 40 times', async (t) => {
    const random = seededRandom()
    const load = startLoad(() => server.url, key, ids('doomed', 3_000).slice(1_000), kept)
    t.after(() => load.stop())
    const killed = new Map<string, number>()
    for (let round = 0; round < 40; round++) {
      await delay(200 + random.integer(600))
      const victim = random.pick(['service', 'coordinator', 'worker 1', 'worker 2'] as const)
      killed.set(victim, (killed.get(victim) ?? 0) + 1)
      if (victim === 'service') {
        server.kill('SIGKILL')
        await server.ended
        server = await startRoomyServer(cli)
      } else {
        const { coordinator, workers } = cluster
        const node = { coordinator, 'worker 1': workers[0], 'worker 2': workers[1] }[victim]
        await node.stop(random.pick(['immediate', 'killed']))
        await delay(random.integer(300))
        await node.start()
      }
      await until(answersAll)
    }
    await load.stop()
    t.diagnostic(`LETHE_TEST_SEED=${random.seed}: ${JSON.stringify([...killed])}; ${summary(load)}`)
    t.diagnostic(`${load.erased.length} erasures and ${load.stored.length} subjects acknowledged`)
    await assertKept(load)
  })
})
