import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { appendFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { type Cluster, citusPrograms, startCluster } from '../../support/citus.ts'
import { type CommandLine, commandLine, onlyJson, type RunningProgram } from '../../support/command-line.ts'
import { inReverse } from '../../support/in-reverse.ts'
import type { PostgresServer } from '../../support/postgres.ts'
import { postgresUser } from '../../support/postgres-program.ts'
import { query } from '../../support/raw-postgres.ts'
import { visit } from '../../support/shop.ts'
import { until } from '../../support/until.ts'
import { assertGone, queryable, withDatabase } from '../fleet/fleet.ts'
import { assertSound } from '../kill/invariants.ts'
import { startRoomyServer, stopServer } from '../kill/server.ts'
import { buildShopAt, ids } from '../kill/visits.ts'
import { createLoadKey, readStatus, startLoad, summary } from './cluster-load.ts'

const programs = citusPrograms()
const kept = ids('kept', 200)
const doomed = ids('doomed', 3_000)
const restorePoint = 'lethe-test'
/** Archives to the folder of each server, next to its data. */
const archiving = {
  archive_mode: 'on',
  archive_command: 'test ! -f ../%f && cp %p ../%f',
}

async function backUp({ url, folder }: PostgresServer): Promise<void> {
  const { hostname, port } = new URL(url)
  const program = join(programs ?? '', 'pg_basebackup')
  const args = ['-h', hostname, '-p', port, '-U', 'postgres', '-D', join(folder, 'base'), '-c', 'fast']
  await promisify(execFile)(program, args, { ...postgresUser(), cwd: folder })
}

/**
 * Restores the backup of a stopped server and starts it. It recovers to the restore point and accepts writes.
 */
async function restore(server: PostgresServer): Promise<void> {
  const data = join(server.folder, 'data')
  rmSync(data, { recursive: true })
  renameSync(join(server.folder, 'base'), data)
  const settings = {
    restore_command: 'cp ../%f %p',
    recovery_target_name: restorePoint,
    recovery_target_action: 'promote',
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`)
  appendFileSync(join(data, 'postgresql.auto.conf'), lines.join(''))
  writeFileSync(join(data, 'recovery.signal'), '')
  await server.start()
  await until(async () => {
    const [row] = await query(server.url, 'SELECT pg_is_in_recovery() AS recovers').catch(() => [])
    return row?.recovers === false
  })
}

describe('a cluster restored to a restore point', {
  skip: !programs && 'no Citus extension is installed',
}, () => {
  const lifetime = inReverse({ after })
  let cluster: Cluster
  let store = ''
  let cli: CommandLine
  let env: Record<string, string> = {}
  let key = ''
  let server: RunningProgram & { url: string }
  before(async () => {
    cluster = await startCluster(lifetime, programs ?? '', archiving)
    store = cluster.coordinator.url
    const rows = [...kept, ...doomed].flatMap((id) => visit(id, { events: 5 }))
    await buildShopAt(store, rows, ({ maintenance }) => maintenance.distribute())
    cli = commandLine(lifetime, store)
    env = { LETHE_JOURNAL: join(cli.folder, 'lethe.journal') }
    key = await createLoadKey(cli)
    server = await startRoomyServer(cli, env)
  })
  const nodes = () => [cluster.coordinator, ...cluster.workers]
  const isStored = async (id: string) => (await readStatus(server.url, key, id)) === 200
  async function stored(all: readonly string[]): Promise<string[]> {
    const found = await Promise.all(all.map(isStored))
    return all.filter((_, i) => found[i])
  }
  /** Fails if the store is inconsistent or holds anything of the erased subjects. */
  async function assertInOrder(erased: readonly string[]): Promise<void> {
    await withDatabase(store, async (client) => {
      await assertGone(client, erased)
      await assertSound(
        queryable((sql) => client.query(sql)),
        'not below the stored rows',
      )
    })
    const verified = await cli.run(['ledger', 'verify'])
    assert.equal(verified.code, 0, verified.stdout + verified.stderr)
  }

  it('has what was acknowledged before it, and the journal repeats later erasures', async (t) => {
    const load = startLoad(() => server.url, key, [...doomed], kept)
    t.after(() => load.stop())
    await until(() => load.erased.length > 50)
    for (const node of nodes()) await backUp(node)
    const whileBackedUp = load.erased.length
    await until(() => load.erased.length > whileBackedUp + 50)
    t.diagnostic(`during the backup: ${summary(load)}`)
    load.forget()
    const before = { erased: [...load.erased], stored: [...load.stored] }
    const from = performance.now()
    await query(store, `SELECT citus_create_restore_point('${restorePoint}')`)
    t.diagnostic(`the restore point took ${Math.round(performance.now() - from)} ms`)
    const during = load.erased.length
    await until(() => load.erased.length > during + 50)
    t.diagnostic(`meanwhile: ${summary(load)}`)
    await load.stop()
    // The log up to the restore point is archived once its segment is complete.
    await query(store, "SELECT run_command_on_all_nodes('SELECT pg_switch_wal()')")
    await stopServer(server)
    for (const node of nodes()) await node.stop('fast')
    const restoredAt = performance.now()
    for (const node of nodes()) await restore(node)
    await query(store, 'SELECT recover_prepared_transactions()')
    t.diagnostic(`restored in ${Math.round(performance.now() - restoredAt)} ms`)
    await assertInOrder(before.erased)

    const back = (await rowsOf(load.erased)).length
    assert.ok(back >= 50, 'erasures after the restore point are undone')
    const replayed = onlyJson(await cli.run(['journal', 'replay', env.LETHE_JOURNAL ?? '', '--json']))
    assert.partialDeepStrictEqual(replayed, { removed: { subjects: back } })
    await assertInOrder(load.erased)
    server = await startRoomyServer(cli, env)
    assert.deepEqual(await stored([...kept, ...before.stored]), [...kept, ...before.stored])
    const lost = load.stored.slice(before.stored.length)
    assert.ok((await stored(lost)).length < lost.length, 'batches after the restore point are undone')
    const next = startLoad(() => server.url, key, doomed.slice(-100), kept)
    await until(() => next.erased.length > 50)
    await next.stop()
    for (const { statuses } of Object.values(next.kinds)) assert.deepEqual([...statuses.keys()], [200])
    await assertInOrder([...load.erased, ...next.erased])
  })

  /** The stored ones of these subjects. */
  async function rowsOf(subjectIds: readonly string[]): Promise<unknown[]> {
    return withDatabase(store, async (client) => {
      const { rows } = await client.query('SELECT 1 FROM subjects WHERE subject_id = ANY ($1)', [subjectIds])
      return rows
    })
  }
})
