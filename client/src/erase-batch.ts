import { type BatchProgress, BatchTally } from './batch-tally.ts'
import type { Budget } from './budget.ts'
import type { ErasureReport } from './erasure-report.ts'
import { ApiError, ClientError } from './errors.ts'
import { isIdentifier } from './identifier.ts'
import {
  type BatchIdentity,
  beginJournal,
  type DoneEntry,
  type Journal,
  type JournalEntry,
  readJournal,
} from './journal.ts'
import { defaultErasuresPerHour, Pace } from './pace.ts'
import { type AttemptState, type RetryPolicy, repeat } from './repeat.ts'
import type { Runtime } from './runtime.ts'

export interface BatchOptions {
  /** The checkpoint file, from which an interrupted batch continues. Without one, it starts again. */
  journal?: Journal | undefined
  /** The assumed number of erasures per hour until the service reports its budget; 60 if omitted. */
  erasuresPerHour?: number | undefined
  /** Called before the first request and after each outcome. */
  onProgress?: ((progress: BatchProgress) => void) | undefined
  /** Stops the batch with the signal's reason, after a running erasure has finished and been recorded. */
  signal?: AbortSignal | undefined
}

/** The result for one data subject of a batch. */
export type BatchOutcome =
  | { subjectId: string; status: 'erased'; erasure: ErasureReport }
  | { subjectId: string; status: 'failed'; error: ClientError }

export interface BatchDeps extends BatchIdentity {
  runtime: Runtime
  policy: RetryPolicy
  /** Sends an erasure once, and passes the budgets of any response to `learn`. */
  attempt(
    subjectId: string,
    state: AttemptState,
    learn: (budgets: readonly Budget[]) => void,
  ): Promise<ErasureReport>
}

/** How long one data subject may take: twice the longest window of a budget. */
const maxTotalMs = 2 * 86_400_000

/** The progress of a batch before it continues, with an estimate of the remaining time. */
export async function planBatch(
  { runtime, ...identity }: BatchIdentity & { runtime: Runtime },
  { journal, erasuresPerHour = defaultErasuresPerHour }: BatchOptions,
): Promise<BatchProgress> {
  const entries = (journal && (await readJournal(journal, identity))) ?? []
  const tally = new BatchTally(identity.ids.length, doneIn(entries).values())
  return tally.progress(new Pace(runtime, erasuresPerHour).estimateMs(tally.left))
}

/**
 * Erases one data subject after another, as fast as the budget allows. An error of one subject is an outcome;
 * an error that affects all (the key, the tracker, the checkpoint file, no response ever) is thrown. Both are
 * recorded.
 */
export async function* eraseBatch(
  { attempt, runtime, policy, ...identity }: BatchDeps,
  { journal, signal, onProgress, erasuresPerHour = defaultErasuresPerHour }: BatchOptions,
): AsyncGenerator<BatchOutcome, void, undefined> {
  const earlier = journal && (await readJournal(journal, identity))
  if (journal && earlier === null) await beginJournal(journal, identity)
  const done = doneIn(earlier ?? [])
  const unanswered = unansweredIn(earlier ?? [])
  const tally = new BatchTally(identity.ids.length, done.values())
  const pace = new Pace(runtime, erasuresPerHour)
  const due = lastDueIn(earlier ?? [])
  if (due !== null) pace.resume(due)
  let wasEverAnswered = false
  const record = async (entry: JournalEntry) => journal?.append(JSON.stringify(entry))
  const report = () => onProgress?.(tally.progress(pace.estimateMs(tally.left)))

  async function eraseOne(position: number, subjectId: string): Promise<BatchOutcome> {
    let mayBeDone = unanswered.has(position)
    try {
      const erasure = await repeat(runtime, { ...policy, maxTotalMs }, signal, async (state) => {
        mayBeDone ||= state.mayBeDone
        await pace.waitForBudget(signal)
        await record({ type: 'sent', position, nextAt: pace.nextAt })
        return attempt(subjectId, { ...state, mayBeDone }, (budgets) => {
          wasEverAnswered = true
          pace.learn(budgets)
        })
      })
      const entry = doneEntry(position, erasure, pace.nextAt)
      await record(entry)
      tally.add(entry)
      return { subjectId, status: 'erased', erasure }
    } catch (error) {
      if (!(error instanceof ClientError)) throw error
      if (!error.isOutcomeUnknown && !mayBeDone) await record({ type: 'refused', position })
      if (!wasEverAnswered || stopsAll(error)) throw error
      tally.addFailure()
      return { subjectId, status: 'failed', error }
    }
  }

  report()
  for (const [position, subjectId] of identity.ids.entries()) {
    if (done.has(position)) continue
    const outcome = await eraseOne(position, subjectId)
    report()
    yield outcome
  }
}

/** The distinct IDs in their order. Throws for an invalid ID. */
export function distinctIds(ids: Iterable<string>): string[] {
  const distinct = [...new Set(ids)]
  const wrong = distinct.findIndex((id) => !isIdentifier(id))
  if (wrong >= 0) throw new TypeError(`The ID at position ${wrong} of the list is not valid.`)
  return distinct
}

/** Whether the next data subject would fail in the same way. */
function stopsAll(error: ClientError): boolean {
  return (
    error instanceof ApiError &&
    ['invalid_request', 'unauthorized', 'forbidden', 'not_found'].includes(error.code)
  )
}

function doneIn(entries: readonly JournalEntry[]): Map<number, DoneEntry> {
  return new Map(entries.flatMap((entry) => (entry.type === 'done' ? [[entry.position, entry]] : [])))
}

/** When the next erasure was due, by the last entry that has a time. */
function lastDueIn(entries: readonly JournalEntry[]): string | null {
  let due: string | null = null
  for (const entry of entries) if (entry.type !== 'refused') due = entry.nextAt ?? due
  return due
}

/** The positions whose last entry says that they were sent. */
function unansweredIn(entries: readonly JournalEntry[]): Set<number> {
  const positions = new Set<number>()
  for (const { type, position } of entries) {
    if (type === 'sent') positions.add(position)
    else positions.delete(position)
  }
  return positions
}

function doneEntry(position: number, report: ErasureReport, nextAt: string | null): DoneEntry {
  const { alreadyErased, countsKnown, counts, erasedAt, requestId } = report
  return { type: 'done', position, alreadyErased, countsKnown, ...counts, erasedAt, requestId, nextAt }
}
