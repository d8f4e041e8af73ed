import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openPostgresStore } from '../../src/storage/postgres/open-postgres-store.ts'
import { createCluster, type PostgresServer, startPostgres } from './postgres.ts'
import { query } from './raw-postgres.ts'
import type { Lifetime } from './service.ts'

/** The address of a database on the coordinator of a Citus cluster. Tests create their own schemas in it. */
export const namedCluster = process.env.LETHE_TEST_CITUS

/** The directory of the installed PostgreSQL's programs, or null if it does not have the Citus extension. */
export function citusPrograms(): string | null {
  try {
    const ask = (what: string) => execFileSync('pg_config', [what], { encoding: 'utf8' }).trim()
    return existsSync(join(ask('--pkglibdir'), 'citus.so')) ? ask('--bindir') : null
  } catch {
    return null
  }
}

/** Starts a cluster of one node that holds all shards. Returns its address. */
export async function startCitus(lifetime: Lifetime, programs: string): Promise<string> {
  // Few shards are created faster: four take an eighth of the time of the default 32.
  const { url } = await startNode(lifetime, programs, { fsync: 'off', 'citus.shard_count': '4' })
  const { port } = new URL(url)
  await query(url, `SELECT citus_set_coordinator_host('127.0.0.1', ${port})`)
  await query(url, `SELECT citus_set_node_property('127.0.0.1', ${port}, 'shouldhaveshards', true)`)
  return url
}

/** A cluster whose nodes can be stopped. */
export interface Cluster {
  coordinator: PostgresServer
  workers: [PostgresServer, PostgresServer]
}

/** Starts a coordinator and two workers, with PostgreSQL's default durability. */
export async function startCluster(
  lifetime: Lifetime,
  programs: string,
  settings: Record<string, string> = {},
): Promise<Cluster> {
  const start = () =>
    startNode(lifetime, programs, { wal_level: 'logical', 'citus.shard_count': '8', ...settings })
  const cluster: Cluster = { coordinator: await start(), workers: [await start(), await start()] }
  const { url } = cluster.coordinator
  await query(url, `SELECT citus_set_coordinator_host('127.0.0.1', ${new URL(url).port})`)
  for (const worker of cluster.workers) await addWorker(cluster.coordinator, worker)
  return cluster
}

export async function addWorker(coordinator: PostgresServer, worker: PostgresServer): Promise<void> {
  await query(coordinator.url, `SELECT citus_add_node('127.0.0.1', ${new URL(worker.url).port})`)
}

/** Settings that Citus requires. */
export const citusSettings = { shared_preload_libraries: 'citus', 'citus.node_conninfo': 'sslmode=prefer' }

/** Starts a single server with the Citus extension. */
export async function startNode(
  lifetime: Lifetime,
  programs: string,
  settings: Record<string, string> = {},
): Promise<PostgresServer> {
  const server = await startPostgres({ ...citusSettings, ...settings }, async (folder) => {
    mkdirSync(join(folder, 'native'))
    symlinkSync(programs, join(folder, 'native', 'bin'))
    const password = await createCluster(folder)
    // Nodes connect to each other and to themselves without a password.
    writeFileSync(
      join(folder, 'data', 'pg_hba.conf'),
      'host all all 127.0.0.1/32 trust\nhost replication all 127.0.0.1/32 trust\n',
    )
    return password
  })
  lifetime.after(() => server.remove())
  await query(server.url, 'CREATE EXTENSION citus')
  return server
}

/** Creates an empty schema on a cluster. Returns its address. */
export async function freshSchema(lifetime: Lifetime, cluster: string): Promise<string> {
  const schema = `lethe_${randomUUID().replaceAll('-', '')}`
  await query(cluster, `CREATE SCHEMA ${schema}`)
  lifetime.after(async () => void (await query(cluster, `DROP SCHEMA ${schema} CASCADE`)))
  const url = new URL(cluster)
  url.searchParams.set('options', `-c search_path=${schema}`)
  return url.href
}

/** Creates an empty store distributed over a cluster. Returns its address. */
export async function freshDistributedStore(lifetime: Lifetime, cluster: string): Promise<string> {
  const address = await freshSchema(lifetime, cluster)
  const store = await openPostgresStore(address)
  await store.maintenance.distribute()
  await store.close()
  return address
}
