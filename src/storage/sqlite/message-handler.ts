import type { DatabaseSync } from 'node:sqlite'
import type { ErasedSubject } from '../../domain/subject.ts'
import { isTransactionName, type TransactionName, transactionNamed } from '../nouns/transactions.ts'
import { backupCommands } from './backup.ts'
import { asyncTransaction, isDiskFailure, openWriter, pause, touch, transaction } from './connection.ts'
import { type SqliteRun, statementRunner } from './connections.ts'
import { derivationCommands } from './derivation.ts'
import { type ErasureOutcome, erasureCommands } from './erasure.ts'
import { ingestCommands } from './ingest.ts'
import { deletionCount, scrubCommands, scrubStateReading } from './scrub.ts'
import { scrubPages } from './scrub-pages.ts'
import { sweepCommands } from './sweep.ts'
import { transferCommands } from './transfer.ts'
import { LogTruncation } from './write-ahead-log.ts'

interface HandlerOptions {
  /** Told the replies to calls, and what else is to be known. */
  post(message: Reply[] | Report): void
  /** Told when the connection is closed. */
  onClosed(): void
}

/** Hands back what does the work of a writer, on a connection of its own: the messages that are there at one moment, one after the other. */
export function messageHandler(
  path: string,
  { post, onClosed }: HandlerOptions,
): (messages: readonly Message[]) => void {
  const db = openWriter(path)
  const run = statementRunner(db)
  const own = commands(db, run)
  const runCommand = commandRunner(db, run, own)
  const countDeletions = deletionCount(db)
  const log = new LogTruncation(db, {
    onHeld: (logHeldMs) => post({ logHeldMs }),
    onWanted: (isLogWanted) => post({ isLogWanted }),
  })
  // A process that ended, or was killed, may have left what it deleted in the log.
  if (scrubStateReading(db)().isDue) log.resume()
  let known = countDeletions()

  /**
   * Erasures that waited together share a transaction and the emptying of the log, which cost far more than a small one itself. The log
   * is emptied also when nothing was there any more: an erasure that was cut off after its commit has left its pages in it.
   */
  function eraseTogether(calls: readonly Erasing[]): void {
    const outcomes = own.eraseSubjects(calls.flatMap(({ args: [erasures] }) => erasures))
    const hasErased = outcomes.some(isErased)
    if (outcomes.some(isDiskFailure)) post({ hasDiskFailed: true })
    function answerAll(error?: unknown): void {
      post(
        calls.map(({ id, args }) =>
          error === undefined ? { id, result: outcomes.splice(0, args[0].length) } : failed(id, error),
        ),
      )
    }
    if (hasErased) log.request(answerAll)
    else answerAll()
  }

  /**
   * Whoever has deleted something for good hears of it when the log is empty too, as of an erasure. Steps that others follow do not wait,
   * and one emptying will do for several of them.
   */
  async function answerCall(call: Call): Promise<void> {
    const { id } = call
    const { reply, hasDeleted } = await answer(call)
    const hasMoreSteps = hasDeleted && isStep(reply)
    if (hasMoreSteps) log.schedule()
    if (hasDeleted && !hasMoreSteps)
      log.request((error) => post([error === undefined ? reply : failed(id, error)]))
    else post([reply])
  }

  async function answer({ id, name, args }: Call): Promise<{ reply: Reply; hasDeleted: boolean }> {
    try {
      const before = countDeletions()
      // Another process may have deleted something, and ended since.
      if (before !== known) log.schedule()
      known = before
      const reply = { id, result: await runCommand(name, args as never[]) }
      known = countDeletions()
      return { reply, hasDeleted: known !== before }
    } catch (error) {
      // A backup may be written to another disk.
      if (name !== 'backup' && isDiskFailure(error)) post({ hasDiskFailed: true })
      return { reply: failed(id, error), hasDeleted: false }
    }
  }

  function close(): void {
    log.end(() => {
      db.close()
      onClosed()
    })
  }

  const waiting: Message[] = []
  let isWorking = false

  /** One call after the other: none begins before the transaction of the one before has ended. */
  async function work(): Promise<void> {
    isWorking = true
    while (waiting.length > 0) {
      const calls = waiting.splice(0).flat()
      const erasing = calls.filter(isErasing)
      if (erasing.length > 0) eraseTogether(erasing)
      for (const call of calls) {
        if (call === 'close') close()
        else if (!isErasing(call)) await answerCall(call)
      }
    }
    isWorking = false
  }

  return (messages) => {
    waiting.push(...messages)
    if (!isWorking) void work()
  }
}

function isErased(outcome: ErasureOutcome): outcome is ErasedSubject {
  return outcome !== null && outcome !== 'not-waiting' && !(outcome instanceof Error)
}

function isErasing(call: Call | 'close'): call is Erasing {
  return call !== 'close' && call.name === 'eraseSubjects'
}

/** Whether others follow, as of a sweep or a removal. */
function isStep({ result }: Reply): boolean {
  return typeof result === 'object' && result !== null && 'isDone' in result && result.isDone === false
}

function failed(id: number, error: unknown): Reply {
  return { id, error: error instanceof Error ? error : new Error(String(error)) }
}

export interface Call {
  id: number
  name: CommandName
  args: unknown[]
}

/** A call to erase. */
interface Erasing extends Call {
  name: 'eraseSubjects'
  args: Parameters<Commands['eraseSubjects']>
}

/** What the thread is sent. */
export type Message = Call[] | 'close'

/** What a call comes back with. */
export interface Reply {
  id: number
  result?: unknown
  error?: Error
}

/** What the thread tells of itself. */
export type Report =
  /** How long others have held the log, longer than it waits for them; `null` when they let go. */
  | { logHeldMs: number | null }
  /** The log is to be emptied, and somebody reads in it; or that is over. */
  | { isLogWanted: boolean }
  /** The disk is full, broken or may not be written to. */
  | { hasDiskFailed: true }

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
function commandRunner(
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
