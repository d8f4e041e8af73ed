import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { text } from '../../../src/storage/nouns/row.ts'
import type { Snapshot } from './killable-store.ts'

/** What depends on how the work was cut into steps, not on what was done: a bound, a moment, counts, notes and proofs of steps. */
const incidental = {
  columns: ['oldest_at', 'last_used_at'],
  tables: [
    ...['scrubs', 'sweeps', 'activity', 'ledger_entries', 'tombstones', 'secrets', 'refused_lines'],
    ...['erasure_batches', 'erasure_batch_items', 'key_days'],
  ],
}

/** All that a store holds, table by table, as the number of rows and a hash over them. */
export async function contentOf(store: Snapshot): Promise<Record<string, string>> {
  const content: Record<string, string> = {}
  for (const table of (await store.ask(store.tables)).map((row) => text(row, 'name'))) {
    if (incidental.tables.includes(table)) continue
    const rows = [...(await rowsOf(store, table, { without: incidental.columns }))].sort()
    const hash = createHash('sha256').update(rows.join('\n')).digest('base64url')
    content[table] = `${rows.length} rows, ${hash}`
  }
  return content
}

/** Which rows to look at, and what of them; all of all rows unless told. */
interface Lookup {
  columns?: string
  without?: readonly string[]
  where?: string
}

/** The rows of a table as text. */
export async function rowsOf(
  store: Snapshot,
  table: string,
  { columns = '*', without = [], where = 'TRUE' }: Lookup = {},
): Promise<Set<string>> {
  const rows = await store.ask(`SELECT ${columns} FROM ${table} WHERE ${where}`)
  for (const row of rows) for (const column of without) delete row[column]
  return new Set(rows.map((row) => JSON.stringify(row)))
}

/** Fails unless all these rows are among those. */
export function assertAmong(these: ReadonlySet<string>, those: ReadonlySet<string>, what: string): void {
  const others = [...these].filter((row) => !those.has(row))
  assert.deepEqual(others.slice(0, 3), [], what)
}

const totals = ['daily_events', 'daily_sessions']

/** The daily totals as text: nothing that deletes may touch them. */
export async function totalsOf(store: Snapshot): Promise<Set<string>[]> {
  return Promise.all(totals.map((table) => rowsOf(store, table)))
}

export async function countRows(store: Snapshot, table: string, where = 'TRUE'): Promise<number> {
  const [row] = await store.ask(`SELECT count(*) AS count FROM ${table} WHERE ${where}`)
  return Number(row?.count)
}

export async function subjectIdsIn(store: Snapshot): Promise<Set<string>> {
  const rows = await store.ask('SELECT subject_id FROM subjects')
  return new Set(rows.map((row) => text(row, 'subject_id')))
}
