// The stores that the growth part measures: each is created empty and grows in place.
import { existsSync, statfsSync, statSync } from 'node:fs'
import { tmpdir, totalmem } from 'node:os'
import { Client } from 'pg'
import { freshDistributedStore, namedCluster } from '../../test/support/citus.ts'
import { startPostgres } from '../../test/support/postgres.ts'
import type { Lifetime } from '../lifetime.ts'
import { UsageError } from '../usage-error.ts'
import { type BenchStore, emptyStore } from './empty-store.ts'
import { createDatabase, postgresVersion } from './postgres-database.ts'

/** A kind of store, on which several can be created. */
interface GrowingStores {
  create(name: string): Promise<GrowingStore>
  notes: string[]
  versions: Record<string, string>
}

export interface GrowingStore extends BenchStore {
  /** The size of its files. */
  bytes(): Promise<number>
  /** Waits for background work of the server; called after a load. */
  settle(): Promise<void>
  /** Whether `lethe backup` copies it. */
  isBackedUp: boolean
}

/**
 * Disk space for each event: a quarter more than measured with a million events, including a backup if there
 * is one.
 */
const bytesPerEvent: Record<string, number> = { SQLite: 600, PostgreSQL: 500 }
const plan = 'pro'

export async function growingStores(lifetime: Lifetime, name: string): Promise<GrowingStores | string> {
  if (name === 'SQLite') return sqliteStores(lifetime)
  if (name === 'PostgreSQL') return postgresStores(lifetime)
  if (name === 'Citus') return citusStores(lifetime)
  throw new UsageError(`${name} is no store that grows: SQLite, PostgreSQL, Citus.`)
}

/** Throws if the disk has too little room for a store with this many events. A cluster has its own disks. */
export function checkDisk(name: string, events: number): void {
  const needed = events * (bytesPerEvent[name] ?? 0)
  const folder = tmpdir()
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  if (needed <= free) return
  const gigabytes = (bytes: number) => `${(bytes / 1e9).toFixed(1)} GB`
  throw new UsageError(
    `${events.toLocaleString('en')} events on ${name} need about ${gigabytes(needed)}, and ${folder} has ${gigabytes(free)} free. Set TMPDIR to a folder on a larger disk, or measure fewer with --set growth.events=10000,1000000.`,
  )
}

function sqliteStores(lifetime: Lifetime): GrowingStores {
  return {
    async create() {
      const store = await emptyStore(lifetime, { plan })
      const sizeOf = (file: string) => (existsSync(file) ? statSync(file).size : 0)
      return {
        ...store,
        bytes: async () => sizeOf(store.path) + sizeOf(`${store.path}-wal`),
        settle: async () => {},
        isBackedUp: true,
      }
    },
    notes: [],
    versions: {},
  }
}

/**
 * With PostgreSQL's defaults, except that it uses a quarter of the memory, as its documentation recommends.
 */
async function postgresStores(lifetime: Lifetime): Promise<GrowingStores> {
  const megabytes = Math.round(totalmem() / 4 / 1024 ** 2)
  const server = await startPostgres({ shared_buffers: `${megabytes}MB`, max_wal_size: '4GB' })
  lifetime.after(() => server.remove())
  const version = await query(server.url, async (sql) => postgresVersion(sql))
  return {
    async create(name) {
      const address = await createDatabase(server.url, name)
      return atAddress(lifetime, address, 'SELECT pg_database_size(current_database()) AS bytes')
    },
    notes: [`shared_buffers = ${megabytes} MB, max_wal_size = 4 GB.`],
    versions: { PostgreSQL: version },
  }
}

async function citusStores(lifetime: Lifetime): Promise<GrowingStores | string> {
  if (namedCluster === undefined) return 'Not measured: LETHE_TEST_CITUS names no cluster.'
  const cluster = namedCluster
  return {
    async create() {
      const address = await freshDistributedStore(lifetime, cluster)
      // Each of the four tables is in the schema of this store.
      const sizes = `SELECT sum(citus_total_relation_size(logicalrelid)) AS bytes FROM pg_dist_partition
        JOIN pg_class ON pg_class.oid = logicalrelid WHERE relnamespace = current_schema()::regnamespace`
      return atAddress(lifetime, address, sizes)
    },
    notes: ['All nodes run on this machine.'],
    versions: {},
  }
}

async function atAddress(lifetime: Lifetime, address: string, sizes: string): Promise<GrowingStore> {
  return {
    ...(await emptyStore(lifetime, { plan, address })),
    bytes: () =>
      query(address, async (sql) => Number((await sql.query<{ bytes: string }>(sizes)).rows[0]?.bytes)),
    settle: () => query(address, async (sql) => void (await sql.query('VACUUM ANALYZE'))),
    isBackedUp: false,
  }
}

async function query<T>(address: string, ask: (sql: Client) => Promise<T>): Promise<T> {
  const sql = new Client(address)
  await sql.connect()
  try {
    return await ask(sql)
  } finally {
    await sql.end()
  }
}
