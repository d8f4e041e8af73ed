import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { Values } from '../nouns/row.ts'

/** A statement that hands rows over as their values. */
export interface ValuesStatement {
  get(...bound: SQLInputValue[]): Values | null
  all(...bound: SQLInputValue[]): readonly Values[]
}

export function prepareValues(db: DatabaseSync, sql: string): ValuesStatement {
  const statement = db.prepare(sql)
  statement.setReturnArrays(true)
  return {
    get(...bound) {
      const row: unknown = statement.get(...bound)
      return Array.isArray(row) ? row : null
    },
    all(...bound) {
      const rows: unknown = statement.all(...bound)
      return areValues(rows) ? rows : []
    },
  }
}

/** One statement hands all its rows over alike. */
function areValues(rows: unknown): rows is Values[] {
  return Array.isArray(rows) && (rows.length === 0 || Array.isArray(rows[0]))
}

/** Runs a statement whose rows are handed over one by one, as each is asked for. */
export function iterateValues(
  db: DatabaseSync,
  sql: string,
  bound: SQLInputValue[],
): Generator<Values, undefined> {
  return preparedIteration(db, sql)(bound)
}

/** The same for a statement that is run again and again, one at a time. */
export function preparedIteration(
  db: DatabaseSync,
  sql: string,
): (bound: SQLInputValue[]) => Generator<Values, undefined> {
  const statement = db.prepare(sql)
  statement.setReturnArrays(true)
  return function* (bound): Generator<Values, undefined> {
    const rows: Iterable<unknown> = statement.iterate(...bound)
    for (const row of rows) if (Array.isArray(row)) yield row
  }
}
