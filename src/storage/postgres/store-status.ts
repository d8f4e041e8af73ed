import type { Client } from 'pg'
import type { StoreStatus } from '../../domain/store.ts'
import { integer, type Row, text } from '../nouns/row.ts'
import { transferTables } from '../rules/schema.ts'
import { withClient } from './connect.ts'
import { isDistributed } from './distribute.ts'
import { migrations, version } from './migrate.ts'
import { scrubState } from './scrub.ts'

const answerTimeoutMs = 10_000
const smallTables = ['organisations', 'trackers', 'api_keys', 'members']
const largeTables = ['subjects', 'sessions', 'events']

/** Reads the status of the store in a PostgreSQL database, on a read-only connection. */
export function readPostgresStatus(url: string): Promise<StoreStatus> {
  return withClient(url, async (client) => {
    await client.query(`SET default_transaction_read_only = on; SET statement_timeout = ${answerTimeoutMs}`)
    return look(client)
  })
}

async function look(client: Client): Promise<StoreStatus> {
  const [applied, known] = [await version(client), migrations().length]
  if (applied === 0) throw new Error('There is no store in this database.')
  /** For a store of another version, whatever exists there. */
  async function ifPresent<Found>(read: () => Promise<Found>): Promise<Found | null> {
    try {
      return await read()
    } catch (error) {
      if (applied === known) throw error
      return null
    }
  }
  const all = async (sql: string): Promise<Row[]> => (await client.query<Row>(sql)).rows
  const first = async (sql: string): Promise<Row> => (await all(sql))[0] ?? {}
  /** Without what was deleted and is still being removed. */
  const present = async (table: string) => {
    const column = `attrelid = to_regclass('${table}') AND attname = 'deleted_at'`
    const [found] = await all(`SELECT 1 FROM pg_attribute WHERE ${column}`)
    return found ? `${table} WHERE deleted_at IS NULL` : table
  }
  const count = async (table: string) =>
    integer(await first(`SELECT count(*) AS count FROM ${await present(table)}`), 'count')
  const isSpread = await isDistributed(client)
  const server = text(await first(`SELECT current_setting('server_version') AS version`), 'version')
  return {
    engine: `PostgreSQL ${server.split(' ')[0]}${isSpread ? ' with Citus' : ''}`,
    migrations: { applied, known },
    organisations: await ifPresent(async () => {
      const rows = await all(
        `SELECT id, name, plan FROM ${await present('organisations')} ORDER BY created_at, id`,
      )
      return rows.map((row) => ({ id: text(row, 'id'), name: text(row, 'name'), plan: text(row, 'plan') }))
    }),
    bytes: await sizes(all, isSpread),
    rows: await ifPresent(async () => {
      const rows: Record<string, number> = {}
      for (const table of smallTables) rows[table] = await count(table)
      return rows
    }),
    // On a cluster each shard has its own estimate, and the distributed table has none.
    estimatedRows: isSpread ? null : await estimates(all),
    sweptAt: await ifPresent(async () => {
      const [row] = await all('SELECT begun_at FROM sweeps')
      return row ? integer(row, 'begun_at') : null
    }),
    scrub: await ifPresent(() => scrubState(({ text }) => all(text))),
  }
}

type All = (sql: string) => Promise<Row[]>

/** Each large table with its indexes, and all small ones together. */
async function sizes(all: All, isSpread: boolean): Promise<Record<string, number>> {
  const own = 'coalesce(pg_total_relation_size(to_regclass(name)), 0)'
  const size = isSpread
    ? `CASE WHEN to_regclass(name) IN (SELECT logicalrelid FROM pg_dist_partition)
         THEN citus_total_relation_size(to_regclass(name)) ELSE ${own} END`
    : own
  const names = [...transferTables.map(({ name }) => name), 'scrubs', 'sweeps', 'lethe_migrations']
  const rows = await all(`SELECT name, ${size} AS bytes FROM unnest(ARRAY[${listed(names)}]) AS name`)
  const bytes: Record<string, number> = {
    ...Object.fromEntries(largeTables.map((name) => [name, 0])),
    others: 0,
  }
  for (const row of rows) {
    const part = largeTables.find((name) => name === row.name) ?? 'others'
    bytes[part] = (bytes[part] ?? 0) + integer(row, 'bytes')
  }
  return bytes
}

/** As of the last vacuum or analyse of each table; tables without an estimate are left out. */
async function estimates(all: All): Promise<Record<string, number>> {
  const rows = await all(
    `SELECT name, reltuples::bigint AS count FROM unnest(ARRAY[${listed(largeTables)}]) AS name
     JOIN pg_class ON oid = to_regclass(name) WHERE reltuples >= 0`,
  )
  return Object.fromEntries(rows.map((row) => [text(row, 'name'), integer(row, 'count')]))
}

function listed(names: readonly string[]): string {
  return names.map((name) => `'${name}'`).join(', ')
}
