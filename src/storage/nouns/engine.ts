import type { MaybePromise } from '../../domain/maybe-promise.ts'
import type { Row } from './row.ts'
import type { NamedValues, Statement } from './statement.ts'

/** What a statement has found; how many rows that are, or how many it has changed. */
export interface Result {
  rows: Row[]
  count: number
}

/**
 * Runs a statement within a transaction. PostgreSQL answers later, SQLite immediately. Statements run in the order in which they are
 * asked for, and need not be waited for: should one fail, the transaction does.
 */
export type Run = (statement: Statement, parameters?: NamedValues) => MaybePromise<Result>

/**
 * Transactions by their names: functions of `run` and what a port is asked. They wait for nothing but their statements, so that on
 * SQLite each has ended before anything else happens in its thread.
 */
export type Transactions<T> = { [Name in keyof T]: (run: Run, ...args: never[]) => unknown }

/** What a transaction takes behind `run`. */
export type ArgumentsOf<Transaction> = Transaction extends (run: Run, ...args: infer Args) => unknown
  ? Args
  : never
export type ResultOf<Transaction> = Transaction extends (...args: never[]) => infer Result
  ? Awaited<Result>
  : never

/** What an engine offers to the nouns that are written once for all engines: reads, and at least the transactions that a noun needs. */
export interface Engine<out T extends Transactions<T> = object> {
  /** Runs one statement that only reads. */
  read(statement: Statement, parameters?: NamedValues): MaybePromise<Row[]>
  /** Like `read`, for finding out who asks: waits for no other reads. */
  readCredential(statement: Statement, parameters: NamedValues): MaybePromise<Row[]>
  /** Like `read`, for what may take longer than a request. */
  readLong(statement: Statement, parameters?: NamedValues): MaybePromise<Row[]>
  /** Remembers what a look-up found until somebody writes, where the engine can tell. */
  cacheUntilWrite<Found>(find: (id: string) => MaybePromise<Found>): (id: string) => MaybePromise<Found>
  /** Runs a transaction, rolled back when it throws. */
  transact<Name extends keyof T>(name: Name, ...args: ArgumentsOf<T[Name]>): Promise<ResultOf<T[Name]>>
  /** Like `transact`, for taking a credential away: waits for no other writes. */
  revoke<Name extends keyof T>(name: Name, ...args: ArgumentsOf<T[Name]>): Promise<ResultOf<T[Name]>>
}
