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
  /** Where to note what was done, so that the batch can go on after a crash. Without one, it starts anew. */
  journal?: Journal | undefined
  /** How many erasures an hour to assume as long as the service does not say; 60, the documented budget, without it. */
  erasuresPerHour?: number | undefined
  /** Called before the first request and after each outcome. */
  onProgress?: ((progress: BatchProgress) => void) | undefined
  /** Ends the batch with its reason. An erasure under way is waited for, and noted. */
  signal?: AbortSignal | undefined
}

/** What became of one data subject of a batch. */
export type BatchOutcome =
  | { subjectId: string; status: 'erased'; erasure: ErasureReport }
  | { subjectId: string; status: 'failed'; error: ClientError }

export interface BatchDeps extends BatchIdentity {
  runtime: Runtime
  policy: RetryPolicy
  /** Sends one erasure once, and hands what the answer says of its budgets to `learn`, whatever else it says. */
  attempt(
    subjectId: string,
    state: AttemptState,
    learn: (budgets: readonly Budget[]) => void,
  ): Promise<ErasureReport>
}

/** How long one data subject may take: two of the longest windows there are. */
const maxTotalMs = 2 * 86_400_000

/** What a batch is about to do. */
export async function planBatch(
  { runtime, ...identity }: BatchIdentity & { runtime: Runtime },
  { journal, erasuresPerHour = defaultErasuresPerHour }: BatchOptions,
): Promise<BatchProgress> {
  const entries = (journal && (await readJournal(journal, identity))) ?? []
  const tally = new BatchTally(identity.ids.length, doneIn(entries).values())
  return tally.progress(new Pace(runtime, erasuresPerHour).estimateMs(tally.left))
}

/**
 * Erases one data subject after the other, as fast as the budget allows. What concerns one alone becomes an outcome; what
 * would stop them all (the key, the tracker, the journal, a service that never answers) is thrown. Either way the journal knows.
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
  const note = async (entry: JournalEntry) => journal?.append(JSON.stringify(entry))
  const report = () => onProgress?.(tally.progress(pace.estimateMs(tally.left)))

  async function eraseOne(position: number, subjectId: string): Promise<BatchOutcome> {
    let mayBeDone = unanswered.has(position)
    try {
      const erasure = await repeat(runtime, { ...policy, maxTotalMs }, signal, async (state) => {
        mayBeDone ||= state.mayBeDone
        await pace.turn(signal)
        await note({ type: 'sent', position, nextAt: pace.nextAt })
        return attempt(subjectId, { ...state, mayBeDone }, (budgets) => {
          wasEverAnswered = true
          pace.learn(budgets)
        })
      })
      const entry = doneEntry(position, erasure, pace.nextAt)
      await note(entry)
      tally.add(entry)
      return { subjectId, status: 'erased', erasure }
    } catch (error) {
      if (!(error instanceof ClientError)) throw error
      if (!error.isOutcomeUnknown && !mayBeDone) await note({ type: 'refused', position })
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

/** Each id once, in the order they came. Throws for one that the service cannot know. */
export function distinctIds(ids: Iterable<string>): string[] {
  const distinct = [...new Set(ids)]
  const wrong = distinct.findIndex((id) => !isIdentifier(id))
  if (wrong >= 0)
    throw new TypeError(`The id at position ${wrong} of the list is not one the service can know.`)
  return distinct
}

/** Whether the next data subject would meet the same. */
function stopsAll(error: ClientError): boolean {
  return (
    error instanceof ApiError &&
    ['invalid_request', 'unauthorized', 'forbidden', 'not_found'].includes(error.code)
  )
}

function doneIn(entries: readonly JournalEntry[]): Map<number, DoneEntry> {
  return new Map(entries.flatMap((entry) => (entry.type === 'done' ? [[entry.position, entry]] : [])))
}

/** When the next erasure was due, by the last entry that says. */
function lastDueIn(entries: readonly JournalEntry[]): string | null {
  let due: string | null = null
  for (const entry of entries) if (entry.type !== 'refused') due = entry.nextAt ?? due
  return due
}

/** The positions of which the last word is that they were sent. */
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
