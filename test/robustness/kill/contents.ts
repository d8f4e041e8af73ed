import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { text } from '../../../src/storage/rows/row.ts'
import { ask, value } from '../../storage/sqlite/database-file.ts'
import { legible } from './legible-rows.ts'

/** What depends on how the work was cut into steps, not on what was done: a bound, a moment, counts and notes of steps. */
const incidental = ['subjects.oldest_at', 'api_keys.last_used_at', 'scrubs.*', 'sweeps.*', 'activity.*']

/** All that a store holds, table by table, as the number of rows and a hash over them. */
export function contentOf(path: string): Record<string, string> {
  const db = new DatabaseSync(path)
  try {
    const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all()
    return Object.fromEntries(
      tables
        .map((row) => text(row, 'name'))
        .filter((table) => !incidental.includes(`${table}.*`))
        .map((table) => [table, digest(db, table)]),
    )
  } finally {
    db.close()
  }
}

function digest(db: DatabaseSync, table: string): string {
  const columns = db.prepare('SELECT name, pk FROM pragma_table_info(?) ORDER BY cid').all(table)
  const values = columns
    .map((column) => text(column, 'name'))
    .filter((column) => !incidental.includes(`${table}.${column}`))
    .map((column) => `quote(${column})`)
  const order = columns
    .filter(({ pk }) => Number(pk) > 0)
    .sort((a, b) => Number(a.pk) - Number(b.pk))
    .map((column) => text(column, 'name'))
  const hash = createHash('sha256')
  let count = 0
  const rows = db.prepare(
    `SELECT ${values.join(" || ',' || ")} AS row FROM ${table} ORDER BY ${order.join()}`,
  )
  for (const row of rows.iterate()) {
    hash.update(`${text(row, 'row')}\n`)
    count++
  }
  return `${count} rows, ${hash.digest('base64url')}`
}

/** Which rows to look for, and what of them; all of all rows unless told. */
interface Lookup {
  butNotIn: string
  columns?: string
  where?: string
}

/** Up to three rows of a table that one store holds and another does not, or not in the same form. */
export function rowsOnlyIn(
  path: string,
  table: string,
  { butNotIn, columns = '*', where = 'TRUE' }: Lookup,
): string[] {
  const db = new DatabaseSync(path)
  try {
    db.prepare('ATTACH ? AS other').run(butNotIn)
    const rows = `SELECT ${columns} FROM main.${table} WHERE ${where}`
    return legible(db.prepare(`${rows} EXCEPT SELECT ${columns} FROM other.${table} LIMIT 3`).all())
  } finally {
    db.close()
  }
}

/** Fails unless daily totals are the same in both stores: nothing that deletes may touch them. */
export function assertSameTotals(path: string, other: string): void {
  for (const table of ['daily_events', 'daily_sessions']) {
    assert.deepEqual(rowsOnlyIn(path, table, { butNotIn: other }), [], table)
    assert.deepEqual(rowsOnlyIn(other, table, { butNotIn: path }), [], table)
  }
}

/** How many erasures that deleted something the activity tells of. */
export function notedErasures(path: string): number {
  return Number(value(path, "SELECT count(*) FROM activity WHERE kind = 'subject.erased' AND sessions > 0"))
}

export function subjectIdsIn(path: string): Set<string> {
  return new Set(ask(path, 'SELECT subject_id FROM subjects').map((row) => text(row, 'subject_id')))
}
