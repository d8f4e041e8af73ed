import type { ErasedSubject } from '../../domain/subject.ts'
import { commandRunner, commands } from './commands.ts'
import { isDiskFailure, openWriter } from './connection.ts'
import type { ErasureOutcome } from './erasure.ts'
import { statementRunner } from './run.ts'
import { deletionCount, scrubStateReading } from './scrub.ts'
import { LogTruncation } from './write-ahead-log.ts'
import type { Call, Erasing, Message, Reply, Report } from './writer-messages.ts'

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
