import type { Client } from 'pg'
import { migrationSteps } from '../rules/schema.ts'
import { rekeyIdentifiers } from './identifier.ts'

/** The oldest supported server version. */
const oldestServer = 150_000

/** Held while a store is upgraded; other processes wait. */
const migrationLock = 1_279_611_751

/** All migrations in order; the first has number 1. */
export function migrations(): readonly string[] {
  return migrationSteps('src/storage/postgres/migrations')
}

/** Steps that a migration cannot express in SQL, by number. */
const afterStep: ReadonlyMap<number, (client: Client) => Promise<void>> = new Map([[15, rekeyIdentifiers]])

/** A database that this program must not or cannot use. */
class UnfitDatabase extends Error {
  override name = 'UnfitDatabase'
}

/**
 * Upgrades a store to the newest version, in one transaction; other processes wait. Throws `UnfitDatabase`,
 * with nothing changed, for a store of a newer program and for an unsuitable server or database.
 */
export async function migrate(client: Client, steps: readonly string[] = migrations()): Promise<void> {
  await requireFitServer(client)
  if ((await version(client)) === steps.length) return
  await client.query('SELECT pg_advisory_lock($1)', [migrationLock])
  try {
    await client.query('BEGIN')
    await client.query(
      'CREATE TABLE IF NOT EXISTS lethe_migrations (number integer PRIMARY KEY, applied_at timestamptz)',
    )
    const applied = await version(client)
    if (applied > steps.length) {
      throw new UnfitDatabase(
        `It was written by a newer Lethe (version ${applied}; this one knows up to ${steps.length}). Upgrade Lethe to open it.`,
      )
    }
    for (const [index, step] of steps.entries()) {
      if (index < applied) continue
      await client.query(step)
      await afterStep.get(index + 1)?.(client)
      await client.query('INSERT INTO lethe_migrations VALUES ($1, now())', [index + 1])
    }
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK')
    throw error
  } finally {
    await client.query('SELECT pg_advisory_unlock($1)', [migrationLock])
  }
}

/** The number of the last migration applied; 0 for a database without a store. */
export async function version(client: Client): Promise<number> {
  const { rows: found } = await client.query(`SELECT to_regclass('lethe_migrations') IS NOT NULL AS is_there`)
  if (found[0]?.is_there !== true) return 0
  const { rows } = await client.query('SELECT max(number) AS number FROM lethe_migrations')
  return Number(rows[0]?.number ?? 0)
}

async function requireFitServer(client: Client): Promise<void> {
  const { rows } = await client.query(
    `SELECT current_setting('server_version_num')::int AS number, current_setting('server_version') AS version,
       current_setting('server_encoding') AS encoding`,
  )
  const { number, version, encoding } = rows[0] ?? {}
  if (number < oldestServer)
    throw new UnfitDatabase(`PostgreSQL ${version} is too old; Lethe needs 15 or newer.`)
  if (encoding !== 'UTF8') throw new UnfitDatabase(`Its encoding is ${encoding}; Lethe needs UTF8.`)
}
