import {
  type IncomingRow,
  type IngestCounts,
  type IngestResult,
  type IngestStore,
  InvalidLine,
  parseImportLine,
  type RefusedLines,
} from '../domain/ingest.ts'
import type { Clock, Instant } from '../domain/instant.ts'
import type { Keyring } from '../domain/keyring.ts'
import type { OrganisationStore } from '../domain/organisation.ts'
import { type Plan, type RetentionPolicy, type RetentionStore, windowStart } from '../domain/retention.ts'
import type { TrackerStore } from '../domain/tracker.ts'

/** How many rows, and how much text, share a transaction at most. */
export const maxBatchRows = 20_000
export const maxBatchText = 16 * 1024 * 1024
const nothing: IngestResult = { subjects: 0, sessions: 0, events: 0 }
/** A batch that two ticks find open is stored as it is: no row waits for a second. */
const tickMs = 450
/** How far ahead of ours the clock may be by which something was collected. */
const mostAheadMs = 86_400_000

/** Lines that follow each other in one source. What could not even be read as text comes as the reason why. */
export interface LineBlock {
  source: string
  /** The number of the first line, from 1. */
  firstNumber: number
  lines: readonly (string | InvalidLine)[]
}

export interface ImportOptions {
  /** The tracker of lines that name none. */
  trackerId?: string
  /** Stop at the first bad line, with nothing of the running batch stored. */
  strict?: boolean
  /** Check everything and store nothing. */
  dryRun?: boolean
  onBadLine(source: string, lineNumber: number, reason: string): void
  /** Called when the rows of a batch are on their way, and garbage here. */
  onHandedOver?(): void
}

/** Rows that the plan of their organisation does not keep. */
export interface TooOldRows {
  organisationId: string
  plan: Plan
  days: number
  rows: number
  oldestAt: Instant
}

/** What an import read, and what it added to the store. */
export interface ImportSummary extends IngestCounts {
  lines: number
  badLines: number
  /** Rows older than the window of their tracker's plan: not stored. */
  tooOld: number
  /** The same for each organisation, and for each plan it has had meanwhile. */
  tooOldRows: TooOldRows[]
  /** Rows of subjects that were erased since: not stored. A dry run does not ask for them. */
  ofErased: number
  /** Rows that were stored, or would be in a dry run, whether or not they were known. */
  rows: number
}

export function emptySummary(): ImportSummary {
  return {
    ...{ lines: 0, badLines: 0, tooOld: 0, tooOldRows: [], ofErased: 0, rows: 0 },
    ...{ subjects: 0, sessions: 0, events: 0 },
  }
}

interface ImportDeps extends RetentionPolicy {
  ingest: IngestStore
  trackers: TrackerStore
  organisations: OrganisationStore
  retention: RetentionStore
  keyring: Keyring
  clock: Clock
}

/** The window of a tracker's organisation. */
interface TrackerWindow {
  organisationId: string
  plan: Plan
  since: Instant
  /** The first line of the batch that names it. */
  first: { source: string; number: number }
}

interface Batch {
  rows: IncomingRow[]
  /** How many characters the lines of the rows have. */
  text: number
  /** Whether a tick found it open. */
  wasSeen: boolean
  /** The window of each tracker. Looked up anew for each batch: a plan can change while a pipe runs. */
  windows: Map<string, TrackerWindow>
}

/**
 * Stores lines of sessions and events in batches; the next one is read while one is stored. Empty lines are passed over, bad ones
 * reported and skipped. `summary` is kept up to date, so that a failure leaves behind what was done.
 */
export async function importLines(
  deps: ImportDeps,
  blocks: AsyncIterable<LineBlock>,
  { trackerId, strict = false, dryRun = false, onBadLine, onHandedOver }: ImportOptions,
  summary: ImportSummary = emptySummary(),
): Promise<ImportSummary> {
  let batch = openBatch()
  let storing = Promise.resolve()
  let counted: RefusedLines = { bad: 0, too_old: 0, of_erased: 0 }

  /** Tells the store how many lines were refused since it was told last. */
  async function countRefused(): Promise<void> {
    const before = counted
    counted = { bad: summary.badLines, too_old: summary.tooOld, of_erased: summary.ofErased }
    const refused = {
      bad: counted.bad - before.bad,
      too_old: counted.too_old - before.too_old,
      of_erased: counted.of_erased - before.of_erased,
    }
    const isAny = refused.bad + refused.too_old + refused.of_erased > 0
    if (isAny && !dryRun) await deps.ingest.countRefused(refused)
  }

  /** Keeps a count and not the rows, which the store has once it was asked. */
  function store({ rows, windows }: Batch): Promise<void> {
    const count = rows.length
    const added =
      dryRun || count === 0 ? Promise.resolve(nothing) : deps.ingest.ingest(rows, deps.keyring.tombstoneKeys)
    if (count > 0) onHandedOver?.()
    return added.then(({ subjects, sessions, events, refused = [], ofErased = 0 }) => {
      summary.rows += count - ofErased
      summary.ofErased += ofErased
      for (const { trackerId, rows } of refused) refuse(windows.get(trackerId), trackerId, rows)
      summary.subjects += subjects
      summary.sessions += sessions
      summary.events += events
      return countRefused()
    })
  }

  /** Reports rows that the store did not take, because their tracker was deleted since it was looked up. */
  function refuse(window: TrackerWindow | undefined, id: string, rows: number): void {
    summary.rows -= rows
    summary.badLines += rows
    const { source, number } = window?.first ?? { source: '', number: 0 }
    onBadLine(source, number, `there is no tracker "${id}" any more; ${rows} of its lines were not stored`)
  }

  /** At most one batch is on its way to the store, so memory stays flat. */
  async function handOver(): Promise<void> {
    await storing
    storing = store(batch)
    // Whoever waits for it next hears of a failure.
    storing.catch(() => {})
    batch = openBatch()
  }

  /** What is stored by a longer window than the store remembers is remembered to be kept, before it is stored. */
  async function windowOf(id: string, first: TrackerWindow['first']): Promise<TrackerWindow> {
    const tracker = await deps.trackers.find(id)
    const owner = tracker && (await deps.organisations.find(tracker.organisationId))
    if (!owner) throw new InvalidLine(`there is no tracker "${id}"`)
    const { retentionDays, activityDays, retention } = deps
    const [organisationId, plan, now] = [owner.id, owner.plan, deps.clock()]
    if (!dryRun) {
      const policy = { retentionDays, activityDays }
      await retention.settleWindows({ policy, now, rule: 'longer-only', organisationId, kind: 'visitors' })
    }
    return { organisationId, plan, since: windowStart(retentionDays, plan, now), first }
  }

  function passOver({ organisationId, plan }: TrackerWindow, at: Instant): void {
    const days = deps.retentionDays[plan]
    const isSame = (known: TooOldRows) => known.organisationId === organisationId && known.plan === plan
    let known = summary.tooOldRows.find(isSame)
    if (!known) {
      known = { organisationId, plan, days, rows: 0, oldestAt: at }
      summary.tooOldRows.push(known)
    }
    known.rows += 1
    known.oldestAt = Math.min(known.oldestAt, at)
    summary.tooOld += 1
  }

  for await (const block of withTicks(blocks, tickMs)) {
    if (block === null) {
      if (batch.wasSeen) await handOver()
      else batch.wasSeen = true
      continue
    }
    const latest = deps.clock() + mostAheadMs
    let number = block.firstNumber - 1
    for (const line of block.lines) {
      number += 1
      summary.lines += 1
      try {
        if (typeof line !== 'string') throw line
        if (isBlank(line)) continue
        const row = parseImportLine(line, trackerId, latest)
        if (row === null) continue
        let window = batch.windows.get(row.trackerId)
        if (window === undefined) {
          window = await windowOf(row.trackerId, { source: block.source, number })
          batch.windows.set(row.trackerId, window)
        }
        if (lastInstant(row) < window.since) {
          passOver(window, lastInstant(row))
          continue
        }
        batch.rows.push(row)
        batch.text += line.length
      } catch (error) {
        if (!(error instanceof InvalidLine)) throw error
        summary.badLines += 1
        onBadLine(block.source, number, error.message)
        if (!strict) continue
        await storing
        await countRefused()
        return summary
      }
      if (batch.rows.length >= maxBatchRows || batch.text >= maxBatchText) await handOver()
    }
  }
  await handOver()
  await storing
  await countRefused()
  return summary
}

function openBatch(): Batch {
  return { rows: [], text: 0, wasSeen: false, windows: new Map() }
}

function isBlank(line: string): boolean {
  return !line.startsWith('{') && line.trim() === ''
}

/** The instant by which a row ages out. */
function lastInstant(row: IncomingRow): Instant {
  return row.type === 'session' ? row.endedAt : row.occurredAt
}

/** The items as they come, and `null` whenever a tick passes in between: whoever reads them can do what is due while none comes. */
export async function* withTicks<Item>(
  items: AsyncIterable<Item>,
  everyMs: number,
): AsyncGenerator<Item | null> {
  const iterator = items[Symbol.asyncIterator]()
  let wake = () => {}
  let arrived: Promise<IteratorResult<Item>> | null = null
  let isDue = false
  let timer: NodeJS.Timeout | undefined

  /** Waits for each item once: what would wait for it anew with each tick could not be let go of before it comes. */
  function ask(): void {
    const next = iterator.next()
    const onArrived = () => {
      arrived = next
      wake()
    }
    next.then(onArrived, onArrived)
  }

  /** What has arrived. It is handed out once, and the next one asked for by whoever took it. */
  function take(): Promise<IteratorResult<Item>> | null {
    const taken = arrived
    arrived = null
    return taken
  }

  function tickLater(): void {
    isDue = false
    timer = setTimeout(() => {
      isDue = true
      wake()
    }, everyMs)
  }

  function somethingHappens(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    wake = resolve
    if (arrived !== null || isDue) resolve()
    return promise
  }

  try {
    ask()
    tickLater()
    for (;;) {
      await somethingHappens()
      const result = await take()
      if (result === null) {
        tickLater()
        yield null
      } else if (result.done) {
        return
      } else {
        yield result.value
        ask()
      }
    }
  } finally {
    clearTimeout(timer)
    // Not waited for: it stands behind a `next` that may never come.
    iterator.return?.().catch(() => {})
  }
}
