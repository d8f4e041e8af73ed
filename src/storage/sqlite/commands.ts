import type { DatabaseSync } from 'node:sqlite'
import { isTransactionName, type TransactionName, transactionNamed } from '../nouns/transactions.ts'
import { backupCommands } from './backup.ts'
import { asyncTransaction, pause, touch, transaction } from './connection.ts'
import { derivationCommands } from './derivation.ts'
import { erasureCommands } from './erasure.ts'
import { ingestCommands } from './ingest.ts'
import type { SqliteRun } from './run.ts'
import { scrubCommands } from './scrub.ts'
import { scrubPages } from './scrub-pages.ts'
import { sweepCommands } from './sweep.ts'
import { transferCommands } from './transfer.ts'

/** Left to others after a command that others follow: long enough for another process, which tries every millisecond. */
const yieldMs = 2

/** What only SQLite does so, on one connection. Each command is one transaction. */
export function commands(db: DatabaseSync, run: SqliteRun) {
  return {
    /** Nothing: who asks for it learns that the thread is ready. */
    getReady(): void {},
    /** Finds out whether the disk can be written to. */
    tryToWrite(): void {
      transaction(db, () => db.exec(touch))
    },
    ...erasureCommands(db, run),
    ...ingestCommands(db, run),
    ...derivationCommands(db),
    ...sweepCommands(db, run),
    ...scrubCommands(db),
    ...backupCommands(db),
    ...transferCommands(db),
    scrubPages,
  }
}

export type Commands = ReturnType<typeof commands>
/** Everything that can be asked of a writer: what is SQLite's own, and what is written for all engines. */
export type CommandName = keyof Commands | TransactionName

/** These come one after the other for as long as there is work. */
const repeated: readonly CommandName[] = [
  ...(['scrubPages', 'ingest', 'addDerived', 'sweep', 'sweepAll', 'sweepActivity', 'removeTracker'] as const),
]

/** Runs the command with this name. What is written for all engines ends later, in microtasks. */
export function commandRunner(
  db: DatabaseSync,
  run: SqliteRun,
  own: Commands,
): (name: CommandName, args: never[]) => Promise<unknown> {
  return async (name, args) => {
    const command: (...args: never[]) => unknown = isTransactionName(name)
      ? (...args) => asyncTransaction(db, () => transactionNamed(name)(run, ...args))
      : own[name]
    const result = await command(...args)
    if (repeated.includes(name)) pause(yieldMs)
    return result
  }
}
