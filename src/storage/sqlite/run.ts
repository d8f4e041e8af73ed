import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { Result } from '../nouns/engine.ts'
import { type Parameters, type Statement, type Value, valuesOf } from '../nouns/statement.ts'

/** Runs a statement that is written for all engines, immediately. */
export type SqliteRun = (statement: Statement, parameters?: Parameters) => Result

/** Runs statements on a connection, each prepared when it is first needed. */
export function statementRunner(db: DatabaseSync): SqliteRun {
  const prepared = new Map<Statement, (values: SQLInputValue[]) => Result>()
  return (statement, parameters = {}) => {
    const known = prepared.get(statement) ?? prepare(db, statement)
    prepared.set(statement, known)
    return known(valuesOf(statement, parameters).map(toStored))
  }
}

function prepare(db: DatabaseSync, { sqlite }: Statement): (values: SQLInputValue[]) => Result {
  if (sqlite === null) return () => ({ rows: [], count: 0 })
  const statement = db.prepare(sqlite)
  if (statement.columns().length === 0) {
    return (values) => ({ rows: [], count: Number(statement.run(...values).changes) })
  }
  return (values) => {
    const rows = statement.all(...values)
    return { rows, count: rows.length }
  }
}

/** An array is a text of JSON, in which bytes are hexadecimal digits. */
function toStored(value: Value): SQLInputValue {
  if (typeof value === 'boolean') return value ? 1 : 0
  if (value === null || typeof value === 'string' || typeof value === 'number') return value
  if (value instanceof Uint8Array) return value
  return JSON.stringify(
    value.map((each) => (each instanceof Uint8Array ? Buffer.from(each).toString('hex') : each)),
  )
}
