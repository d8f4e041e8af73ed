import type { MaybePromise } from '../../domain/maybe-promise.ts'
import type { Row } from './row.ts'
import type { NamedValues, Statement } from './statement.ts'

/** The rows that a statement returned, and how many rows it returned or changed. */
export interface Result {
  rows: Row[]
  count: number
}

/**
 * Runs a statement within a transaction. PostgreSQL returns a promise, SQLite a result. Statements run in the
 * order of the calls and need not be awaited: if one fails, the transaction fails.
 */
export type Run = (statement: Statement, parameters?: NamedValues) => MaybePromise<Result>

/**
 * Transactions by name. They must not await anything but their statements, so that on SQLite each ends before
 * anything else runs in its thread.
 */
type Transactions<T> = { [Name in keyof T]: (run: Run, ...args: never[]) => unknown }

/** The arguments of a transaction after `run`. */
export type ArgumentsOf<Transaction> = Transaction extends (run: Run, ...args: infer Args) => unknown
  ? Args
  : never
export type ResultOf<Transaction> = Transaction extends (...args: never[]) => infer Result
  ? Awaited<Result>
  : never

/** What an engine provides to the shared nouns: reads, and the transactions that a noun needs. */
export interface Engine<out T extends Transactions<T> = object> {
  /** Runs one read-only statement. */
  read(statement: Statement, parameters?: NamedValues): MaybePromise<Row[]>
  /** Like `read`, for authentication: does not queue behind other reads. */
  readCredential(statement: Statement, parameters: NamedValues): MaybePromise<Row[]>
  /** Like `read`, for queries that may take longer than a request. */
  readLong(statement: Statement, parameters?: NamedValues): MaybePromise<Row[]>
  /** Caches a look-up until the store is written to, if the engine can tell. */
  cacheUntilWrite<Found>(find: (id: string) => MaybePromise<Found>): (id: string) => MaybePromise<Found>
  /** Runs a transaction; rolls it back if it throws. */
  transact<Name extends keyof T>(name: Name, ...args: ArgumentsOf<T[Name]>): Promise<ResultOf<T[Name]>>
  /** Like `transact`, for revoking a credential: does not queue behind other writes. */
  revoke<Name extends keyof T>(name: Name, ...args: ArgumentsOf<T[Name]>): Promise<ResultOf<T[Name]>>
}
