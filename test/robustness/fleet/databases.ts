import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { escapeIdentifier } from 'pg'
import type { PostgresServer } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'
import { withDatabase } from './invariants.ts'

const tables = [
  'organisations',
  'trackers',
  'api_keys',
  'subjects',
  'sessions',
  'events',
  'daily_events',
  'daily_sessions',
]

/** What depends on how the work was cut into steps, not on what was done: a bound, and a moment. */
const incidental = ['oldest_at', 'last_used_at']

/** The address of a database of a server. */
export function databaseUrl(server: PostgresServer, name: string): string {
  const url = new URL(server.url)
  url.pathname = name
  return url.href
}

/** Puts a copy of a database that nobody uses in the place of another; of an empty one, unless told. */
export async function copyDatabase(server: PostgresServer, to: string, from = 'template0'): Promise<void> {
  await withDatabase(server.url, async (client) => {
    await client.query(`DROP DATABASE IF EXISTS ${escapeIdentifier(to)} WITH (FORCE)`)
    await client.query(`CREATE DATABASE ${escapeIdentifier(to)} TEMPLATE ${escapeIdentifier(from)}`)
  })
}

/** How many connections a program has to a database. */
export function countConnections(server: PostgresServer, database: string): Promise<number> {
  return withDatabase(server.url, async (client) => {
    const { rowCount } = await client.query('SELECT FROM pg_stat_activity WHERE datname = $1', [database])
    return rowCount ?? 0
  })
}

/** Waits until PostgreSQL is done with what a dead process had asked for. */
export function untilDeserted(server: PostgresServer, database: string): Promise<void> {
  return until(async () => (await countConnections(server, database)) === 0)
}

/** All that a database holds, table by table, as the number of rows and a hash over them. */
export async function contentOf(url: string): Promise<Record<string, string>> {
  const digests = tables.map(async (table) => {
    const rows = [...(await rowsOf(url, table))].sort()
    const hash = createHash('sha256').update(rows.join('\n')).digest('base64url')
    return [table, `${rows.length} rows, ${hash}`]
  })
  return Object.fromEntries(await Promise.all(digests))
}

/** The rows of a table as text, without what is incidental and what else is left out. */
export function rowsOf(
  url: string,
  table: string,
  { where = 'TRUE', without = [] }: { where?: string; without?: readonly string[] } = {},
): Promise<Set<string>> {
  return withDatabase(url, async (client) => {
    const { rows } = await client.query<{ row: string }>(
      `SELECT (to_jsonb(t) - $1::text[])::text AS row FROM ${table} t WHERE ${where}`,
      [[...incidental, ...without]],
    )
    return new Set(rows.map(({ row }) => row))
  })
}

/** Fails unless all these rows are among those. */
export function assertAmong(these: ReadonlySet<string>, those: ReadonlySet<string>, what: string): void {
  const others = [...these].filter((row) => !those.has(row))
  assert.deepEqual(others.slice(0, 3), [], what)
}
