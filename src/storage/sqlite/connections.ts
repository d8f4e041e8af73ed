import type { DatabaseSync } from 'node:sqlite'
import type { ArgumentsOf, Engine, ResultOf } from '../nouns/engine.ts'
import type { SharedTransactions, TransactionName } from '../nouns/transactions.ts'
import { cacheUntilWrite } from './cache-until-write.ts'
import { statementRunner } from './run.ts'

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
