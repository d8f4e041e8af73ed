import { Client } from 'pg'
import { startPostgres } from '../../test/support/postgres.ts'
import { noOwnRedis, startRedis } from '../../test/support/redis.ts'
import type { Bench } from '../bench.ts'
import type { HttpSize } from '../sizes.ts'
import { type BenchStore, emptyStore } from '../stores/empty-store.ts'
import { fillStore } from '../stores/fill-store.ts'
import { createDatabase, postgresVersion } from '../stores/postgres-database.ts'

/** A filled store, with its limiter. */
export interface HttpStore extends BenchStore {
  name: string
  notes: string[]
  versions: Record<string, string>
}

export const eventsEach = 10

/** The additional parts of a store. */
interface Parts {
  env: Record<string, string>
  notes: string[]
  versions: Record<string, string>
  address?: string
  /** Runs after everything is stored. */
  settle?(): Promise<void>
}

const besideMemory: Parts = { env: {}, notes: ['Budgets are counted in memory.'], versions: {} }

/** Opens and fills the store with that name, or returns the reason why it cannot. */
export async function openHttpStore(
  { size, lifetime, tell }: Bench<HttpSize>,
  name: string,
): Promise<HttpStore | string> {
  const parts = name === 'SQLite' ? besideMemory : await startFleetParts()
  if (typeof parts === 'string') return parts
  const subjects = size.subjects + size.erasures
  tell(`${name}: ${subjects} subjects of ${eventsEach} events`)
  const store = await emptyStore(lifetime, parts)
  await fillStore(store.env, subjects, eventsEach)
  await parts.settle?.()
  return { ...store, name, notes: parts.notes, versions: parts.versions, env: { ...store.env, ...parts.env } }

  async function startFleetParts(): Promise<Parts | string> {
    if (noOwnRedis) return `Not measured: ${noOwnRedis}.`
    // With PostgreSQL's defaults: every commit is synced before it is confirmed.
    const postgres = await startPostgres({})
    lifetime.after(() => postgres.remove())
    const redis = await startRedis(lifetime)
    const address = await createDatabase(postgres.url, 'bench')
    const info = String(await redis.ask('INFO', 'server'))
    const sql = new Client(address)
    await sql.connect()
    lifetime.after(() => sql.end())
    return {
      address,
      env: { LETHE_LIMITER: redis.url },
      notes: ['PostgreSQL and Redis run on the same machine.'],
      versions: {
        PostgreSQL: await postgresVersion(sql),
        Redis: /redis_version:(\S+)/.exec(info)?.[1] ?? 'unknown',
      },
      async settle() {
        await sql.query('VACUUM ANALYZE')
      },
    }
  }
}
