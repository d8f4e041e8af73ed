import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { ArgumentsOf, Engine, Result, ResultOf } from '../nouns/engine.ts'
import type { Values } from '../nouns/row.ts'
import { type NamedValues, type Statement, type Value, valuesOf } from '../nouns/statement.ts'
import type { SharedTransactions, TransactionName } from '../nouns/transactions.ts'

type CommandsOf<Commands> = { [Name in keyof Commands]: (...args: never[]) => unknown }

/** Has commands done, each one transaction, by the connection that writes. */
export interface CommandRunner<out Commands extends CommandsOf<Commands>> {
  run<Name extends keyof Commands>(
    name: Name,
    ...args: Parameters<Commands[Name]>
  ): Promise<ReturnType<Commands[Name]>>
  /** Runs a transaction that is written for all engines. */
  transact<Name extends TransactionName>(
    name: Name,
    ...args: ArgumentsOf<SharedTransactions[Name]>
  ): Promise<ResultOf<SharedTransactions[Name]>>
  /** As `run`; what is in `moved` as well as in the arguments is not copied to the thread, where there is one, and may not be used afterwards. */
  runMoving<Name extends keyof Commands>(
    moved: readonly ArrayBuffer[],
    name: Name,
    ...args: Parameters<Commands[Name]>
  ): Promise<ReturnType<Commands[Name]>>
}

/** What the stores work with: a connection to read through, and a writer that knows at least the commands a store needs. */
export interface Connections<out Commands extends CommandsOf<Commands> = object> {
  /** The file. */
  path: string
  reader: DatabaseSync
  writer: CommandRunner<Commands>
}

/** The engine that nouns work with which are written once. What reads does so here and immediately. */
export function sqliteEngine({ reader, writer }: Connections): Engine<SharedTransactions> {
  const run = statementRunner(reader)
  const read: Engine['read'] = (statement, parameters) => run(statement, parameters).rows
  return {
    read,
    readCredential: read,
    readLong: read,
    cacheUntilWrite: cacheUntilWrite(reader),
    transact: (name, ...args) => writer.transact(name, ...args),
    revoke: (name, ...args) => writer.transact(name, ...args),
  }
}

/** Runs a statement that is written for all engines, immediately. */
export type SqliteRun = (statement: Statement, parameters?: NamedValues) => Result

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

/** Gives a look-up by a text a memory. */
type Cache = <Found>(find: (id: string) => Found) => (id: string) => Found

const maxEntries = 10_000

/**
 * Remembers what look-ups found for as long as nobody, in whatever process, has written to the store. SQLite tells that by a number
 * which costs a fraction of a look-up; so a memory never outlives a change. Only for connections that do not write themselves.
 */
export function cacheUntilWrite(db: DatabaseSync): Cache {
  const version = db.prepare('PRAGMA data_version')
  return (find) => {
    const memory = new Map<string, ReturnType<typeof find>>()
    let writtenAt: unknown
    return (id) => {
      const current = version.get()?.data_version
      if (current !== writtenAt || memory.size >= maxEntries) memory.clear()
      writtenAt = current
      const known = memory.get(id)
      if (known !== undefined) return known
      const found = find(id)
      memory.set(id, found)
      return found
    }
  }
}
