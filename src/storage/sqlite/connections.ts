import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { ArgumentsOf, Engine, Result, ResultOf } from '../nouns/engine.ts'
import type { Values } from '../nouns/row.ts'
import { type NamedValues, type Statement, type Value, valuesOf } from '../nouns/statement.ts'
import type { SharedTransactions, TransactionName } from '../nouns/transactions.ts'

type CommandsOf<Commands> = { [Name in keyof Commands]: (...args: never[]) => unknown }

/** Runs commands, each one transaction, on the connection that writes. */
export interface CommandRunner<out Commands extends CommandsOf<Commands>> {
  run<Name extends keyof Commands>(
    name: Name,
    ...args: Parameters<Commands[Name]>
  ): Promise<ReturnType<Commands[Name]>>
  /** Runs a shared transaction. */
  transact<Name extends TransactionName>(
    name: Name,
    ...args: ArgumentsOf<SharedTransactions[Name]>
  ): Promise<ResultOf<SharedTransactions[Name]>>
  /**
   * Like `run`; buffers in `moved` are transferred to the thread instead of copied, and must not be used
   * afterwards.
   */
  runMoving<Name extends keyof Commands>(
    moved: readonly ArrayBuffer[],
    name: Name,
    ...args: Parameters<Commands[Name]>
  ): Promise<ReturnType<Commands[Name]>>
}

/** What the stores work with: a connection for reads, and a writer with the commands that a store needs. */
export interface Connections<out Commands extends CommandsOf<Commands> = object> {
  /** The database file. */
  path: string
  reader: DatabaseSync
  writer: CommandRunner<Commands>
}

/** The engine for the shared nouns. Reads are synchronous. */
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

/** Runs a shared statement synchronously. */
export type SqliteRun = (statement: Statement, parameters?: NamedValues) => Result

/** Runs statements on a connection and prepares each on first use. */
export function statementRunner(db: DatabaseSync): SqliteRun {
  const prepared = new Map<Statement, SqlitePrepared>()
  return (statement, given = {}) => {
    let run = prepared.get(statement)
    if (!run) {
      run = prepare(db, statement)
      prepared.set(statement, run)
    }
    return run(given)
  }
}

type SqlitePrepared = (given: NamedValues) => Result

function prepare(db: DatabaseSync, statement: Statement): SqlitePrepared {
  if (statement.sqlite === null) return () => ({ rows: [], count: 0 })
  const prepared = db.prepare(statement.sqlite)
  if (prepared.columns().length === 0) {
    return (given) => ({ rows: [], count: Number(prepared.run(...boundValues(statement, given)).changes) })
  }
  return (given) => {
    const rows = prepared.all(...boundValues(statement, given))
    return { rows, count: rows.length }
  }
}

function boundValues(statement: Statement, given: NamedValues): SQLInputValue[] {
  return valuesOf(statement, given, toStored)
}

/** An array becomes JSON, with bytes in hexadecimal. */
function toStored(value: Value): SQLInputValue {
  if (typeof value === 'string' || typeof value === 'number' || value === null) return value
  if (typeof value === 'boolean') return value ? 1 : 0
  if (value instanceof Uint8Array) return value
  return JSON.stringify(
    value.map((each) => (each instanceof Uint8Array ? Buffer.from(each).toString('hex') : each)),
  )
}

/** A statement that returns rows as arrays of values. */
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

/** Checks the first row only: all rows of a statement have the same form. */
function areValues(rows: unknown): rows is Values[] {
  return Array.isArray(rows) && (rows.length === 0 || Array.isArray(rows[0]))
}

/** Runs a statement and returns its rows one by one. */
export function iterateValues(
  db: DatabaseSync,
  sql: string,
  bound: SQLInputValue[],
): Generator<Values, undefined> {
  return preparedIteration(db, sql)(bound)
}

/** Like `iterateValues`, for a statement that is run repeatedly. */
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

/** Adds a cache to a look-up by text. */
type Cache = <Found>(find: (id: string) => Found) => (id: string) => Found

const maxEntries = 10_000

/**
 * Caches look-ups until any process writes to the store. SQLite reports that by a number, which costs a
 * fraction of a look-up, so the cache is never stale. Only for connections that do not write.
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
