import { constants, getPriority, setPriority } from 'node:os'
import type { DatabaseSync } from 'node:sqlite'
import { isMainThread } from 'node:worker_threads'
import type { ErasedSubject } from '../../domain/subject.ts'
import { isTransactionName, type TransactionName, transactionNamed } from '../nouns/transactions.ts'
import { backupCommands } from './backup.ts'
import { asyncTransaction, isDiskFailure, openWriter, pause, touch, transaction } from './connection.ts'
import { type SqliteRun, statementRunner } from './connections.ts'
import { type ErasureOutcome, erasureCommands } from './erasure.ts'
import { derivationCommands } from './identifier-derivation.ts'
import { ingestCommands } from './ingest.ts'
import { deletionCount, scrubCommands, scrubStateReading } from './scrub.ts'
import { scrubPages } from './scrub-pages.ts'
import { sweepCommands } from './sweep.ts'
import { transferCommands } from './transfer.ts'
import { LogTruncation } from './write-ahead-log.ts'

interface HandlerOptions {
  /** Called with the replies to calls, and with reports. */
  post(message: Reply[] | Report): void
  /** Called when the connection is closed. */
  onClosed(): void
}

/**
 * Creates the handler of a writer's messages, with its own connection. Messages are handled one after the
 * other.
 */
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
  // A process that ended or was killed may have left deleted data in the log.
  if (scrubStateReading(db)().isDue) log.resume()
  let known = countDeletions()

  /**
   * Erasures that arrived together share a transaction and the truncation of the log, which cost far more
   * than a small erasure. The log is also emptied if nothing was found: an erasure interrupted after its
   * commit has left its pages there.
   */
  function eraseBatch(calls: readonly Erasing[]): void {
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
   * A deletion is answered once the log is empty, like an erasure. Steps that are followed by others are
   * answered immediately, and one truncation serves several of them.
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
      // Another process may have deleted something and ended since.
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

  /** Runs one call after the other: each starts after the transaction of the previous one has ended. */
  async function work(): Promise<void> {
    isWorking = true
    while (waiting.length > 0) {
      const calls = waiting.splice(0).flat()
      const erasing = calls.filter(isErasing)
      if (erasing.length > 0) eraseBatch(erasing)
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

/** Whether more steps follow, as in a sweep or a removal. */
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

/** A call to erase subjects. */
interface Erasing extends Call {
  name: 'eraseSubjects'
  args: Parameters<Commands['eraseSubjects']>
}

/** A message to the thread. */
export type Message = Call[] | 'close'

/** The reply to a call. */
export interface Reply {
  id: number
  result?: unknown
  error?: Error
}

/** A report from the thread. */
export type Report =
  /** How long others have held the log beyond the timeout; `null` when they released it. */
  | { logHeldMs: number | null }
  /** Whether the log is to be emptied while somebody reads it. */
  | { isLogWanted: boolean }
  /** The disk is full, broken or read-only. */
  | { hasDiskFailed: true }

/** Pause after a repeated command: long enough for another process, which retries every millisecond. */
const yieldMs = 2

/** A third of a processor beside a busy process: reads go first, and writes are not starved by others. */
const niceIncrement = 5

/**
 * Lets other threads run first: while batches are stored, a read would otherwise wait for a processor. Only
 * Linux has a priority for each thread. A sandbox may forbid it, which costs only that.
 */
function lowerPriority(): void {
  if (process.platform !== 'linux' || isMainThread) return
  try {
    setPriority(Math.min(getPriority() + niceIncrement, constants.priority.PRIORITY_LOW))
  } catch {}
}

/** The commands that only SQLite has. Each is one transaction. */
export function commands(db: DatabaseSync, run: SqliteRun) {
  return {
    /** The reply tells that the thread is ready. From then on, it runs after those that serve requests. */
    getReady: lowerPriority,
    /** Tests whether the disk is writable. */
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
/** All commands of a writer: SQLite's own and the shared transactions. */
export type CommandName = keyof Commands | TransactionName

/** Commands that are repeated for as long as there is work. */
const repeated: readonly CommandName[] = [
  ...(['scrubPages', 'ingest', 'addDerived', 'sweep', 'sweepAll', 'sweepActivity', 'removeTracker'] as const),
]

/** Runs the command with this name. Shared transactions end later, in microtasks. */
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
