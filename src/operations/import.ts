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

/** The maximum size of a transaction. */
export const maxBatchRows = 20_000
export const maxBatchText = 16 * 1024 * 1024
const nothing: IngestResult = { subjects: 0, sessions: 0, events: 0 }
/** A batch that is open for two ticks is stored, so that no row waits longer than a second. */
const tickMs = 450
/** How far ahead the clock of a data source may be. */
const maxAheadMs = 86_400_000

/** Consecutive lines of one source. A line that is not valid text is represented by its error. */
export interface LineBlock {
  source: string
  /** The number of the first line, from 1. */
  firstNumber: number
  lines: readonly (string | InvalidLine)[]
}

export interface ImportOptions {
  /** The tracker of lines without one. */
  trackerId?: string
  /** Stops at the first invalid line and discards the current batch. */
  strict?: boolean
  /** Checks everything and stores nothing. */
  dryRun?: boolean
  onBadLine(source: string, lineNumber: number, reason: string): void
  /** Called when a batch was passed to the store, so that its memory can be reclaimed. */
  onHandedOver?(): void
}

/** Rows older than the window of their organisation's plan. */
export interface TooOldRows {
  organisationId: string
  plan: Plan
  days: number
  rows: number
  oldestAt: Instant
}

export interface ImportSummary extends IngestCounts {
  lines: number
  badLines: number
  tooOld: number
  /** Per organisation and plan, which may change during an import. */
  tooOldRows: TooOldRows[]
  /** Rows of erased subjects, which are not stored. Always 0 in a dry run. */
  ofErased: number
  /** Rows that were stored, or would be, whether or not they are new. */
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

interface TrackerWindow {
  organisationId: string
  plan: Plan
  since: Instant
  /** The first line of the batch with this tracker. */
  first: { source: string; number: number }
}

interface Batch {
  rows: IncomingRow[]
  /** The total length of the lines. */
  text: number
  /** Whether a tick has found the batch open. */
  wasSeen: boolean
  /** Looked up for each batch, because a plan can change while a pipe runs. */
  windows: Map<string, TrackerWindow>
}

/**
 * Stores lines in batches, reading the next batch while one is written. Skips empty lines; reports and skips
 * invalid ones. `summary` is updated continuously, so that it is valid after a failure.
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

  /** Reports the lines refused since the last call to the store. */
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

  /** Captures only the count, so that the rows can be garbage-collected while they are written. */
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

  /** Reports rows whose tracker was deleted after it was looked up. */
  function refuse(window: TrackerWindow | undefined, id: string, rows: number): void {
    summary.rows -= rows
    summary.badLines += rows
    const { source, number } = window?.first ?? { source: '', number: 0 }
    onBadLine(source, number, `tracker "${id}" was deleted; ${rows} of its lines were not stored`)
  }

  /** Only one batch is being written, so that memory use stays constant. */
  async function handOver(): Promise<void> {
    await storing
    storing = store(batch)
    // The next `await` reports a failure.
    storing.catch(() => {})
    batch = openBatch()
  }

  /** Stores a longer window before rows that depend on it are stored. */
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

  function countTooOld({ organisationId, plan }: TrackerWindow, at: Instant): void {
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
    const latest = deps.clock() + maxAheadMs
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
          countTooOld(window, lastInstant(row))
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

/** Yields the items, and `null` whenever a tick passes without one. */
export async function* withTicks<Item>(
  items: AsyncIterable<Item>,
  everyMs: number,
): AsyncGenerator<Item | null> {
  const iterator = items[Symbol.asyncIterator]()
  let wake = () => {}
  let arrived: Promise<IteratorResult<Item>> | null = null
  let isDue = false
  let timer: NodeJS.Timeout | undefined

  /** Awaits each item once; awaiting it again with each tick would leak memory until it arrives. */
  function ask(): void {
    const next = iterator.next()
    const onArrived = () => {
      arrived = next
      wake()
    }
    next.then(onArrived, onArrived)
  }

  /** The caller asks for the next item. */
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

  function nextChange(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    wake = resolve
    if (arrived !== null || isDue) resolve()
    return promise
  }

  try {
    ask()
    tickLater()
    for (;;) {
      await nextChange()
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
    // Not awaited, because it waits for a `next` that may never settle.
    iterator.return?.().catch(() => {})
  }
}
