import { addCounts } from '../domain/activity.ts'
import { notFound } from '../domain/errors.ts'
import {
  type IncomingBatch,
  type IncomingRow,
  type IngestCounts,
  type IngestResult,
  type IngestStore,
  InvalidLine,
  type PackedBatch,
  parseImportLine,
  type RefusedRows,
} from '../domain/ingest.ts'
import type { IngestQueue } from '../domain/ingest-queue.ts'
import { type Clock, dayMs, type Instant } from '../domain/instant.ts'
import type { Keyring } from '../domain/keyring.ts'
import type { MaybePromise } from '../domain/maybe-promise.ts'
import type { OrganisationStore } from '../domain/organisation.ts'
import { type Plan, type RetentionPolicy, type RetentionStore, windowStart } from '../domain/retention.ts'
import { timeSlices } from '../domain/semaphore.ts'
import { maxIdentifiersPerSubject } from '../domain/subject-identifier.ts'
import type { TrackerRef, TrackerStore } from '../domain/tracker.ts'

/** How far ahead the clock of a data source may be. */
const maxAheadMs = dayMs

/** Consecutive lines of one source. A line that is not valid text is represented by its error. */
export interface LineBlock {
  source: string
  /** The number of the first line, from 1. */
  firstNumber: number
  lines: readonly (string | InvalidLine)[]
}

/** Where a line came from. */
interface LinePosition {
  source: string
  number: number
}

/** Rows older than the window of their organisation's plan. */
export interface TooOldRows {
  organisationId: string
  plan: Plan
  days: number
  rows: number
  oldestAt: Instant
}

/** What became of lines. */
export interface IngestSummary extends IngestCounts {
  lines: number
  badLines: number
  tooOld: number
  /** Per organisation and plan, which may change in the meantime. */
  tooOldRows: TooOldRows[]
  /** Rows of erased subjects, which are not stored. Always 0 in a dry run. */
  ofErased: number
  /** Rows that were stored, or would be, whether or not they are new. */
  rows: number
  /** Those of them that were already stored as they are. */
  unchanged: number
}

export function emptySummary(): IngestSummary {
  return {
    ...{ lines: 0, badLines: 0, tooOld: 0, tooOldRows: [], ofErased: 0, rows: 0, unchanged: 0 },
    ...{ subjects: 0, sessions: 0, events: 0 },
  }
}

export interface IngestDeps extends RetentionPolicy {
  ingest: IngestStore
  trackers: TrackerStore
  organisations: OrganisationStore
  retention: RetentionStore
  keyring: Keyring
  clock: Clock
}

export interface LineOptions {
  /** The tracker of lines without one. */
  trackerId?: string
  /** Whether lines of other trackers are invalid. */
  onlyThisTracker?: boolean
  /** Checks everything and stores nothing. */
  dryRun?: boolean
  onBadLine(source: string, lineNumber: number, reason: string): void
}

interface TrackerWindow {
  organisationId: string
  plan: Plan
  since: Instant
  /** The first line of the batch with this tracker. */
  first: LinePosition
}

/** Lines that are stored together. Updates `summary` continuously, so that it is valid after a failure. */
export class LineBatch {
  rows: IncomingRow[] = []
  /** The total length of the lines. */
  text = 0
  readonly #deps: IngestDeps
  readonly #options: LineOptions
  readonly #summary: IngestSummary
  readonly #latest: Instant
  /** Looked up for each batch, because a plan can change while a pipe runs. */
  readonly #windows = new Map<string, TrackerWindow>()

  constructor(deps: IngestDeps, options: LineOptions, summary: IngestSummary) {
    this.#deps = deps
    this.#options = options
    this.#summary = summary
    this.#latest = deps.clock() + maxAheadMs
  }

  /**
   * Adds a line, unless it is empty, invalid or too old. Counts and reports invalid lines, and returns
   * `false` for them.
   */
  add(line: string | InvalidLine, source: string, number: number): MaybePromise<boolean> {
    const summary = this.#summary
    summary.lines += 1
    try {
      if (typeof line !== 'string') throw line
      if (isBlank(line)) return true
      const row = parseImportLine(line, this.#options.trackerId, this.#latest)
      if (row === null) return true
      this.#requireTracker(row)
      const window = this.#windows.get(row.trackerId)
      if (window !== undefined) return this.#addRow(row, line.length, window)
      return this.#openWindow(row.trackerId, { source, number }).then(
        (opened) => this.#addRow(row, line.length, opened),
        (error) => this.#refuse(error, source, number),
      )
    } catch (error) {
      return this.#refuse(error, source, number)
    }
  }

  /** Hands over the rows. */
  takeRows(): IncomingBatch {
    const { rows } = this
    this.rows = []
    return rows
  }

  /**
   * Stores rows with `ingest`, each part in a transaction, and counts what it did. A part is handed over
   * while the one before it is stored.
   */
  async store(parts: IncomingBatch[], ingest: (rows: IncomingBatch) => Promise<IngestResult>): Promise<void> {
    const stored: Promise<void>[] = []
    try {
      for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
        const count = part.length
        if (count === 0) continue
        const storing = ingest(part).then((result) => this.count(count, result))
        // Frees the rows for garbage collection while they are written.
        part = []
        storing.catch(() => {})
        stored.push(storing)
        await stored.at(-2)
      }
      await stored.at(-1)
    } finally {
      // If one failed, the other is still counted.
      await Promise.allSettled(stored.slice(-2))
    }
  }

  /** Counts what became of rows that were taken. */
  count(rows: number, result: IngestResult): void {
    const { refused = [], ofErased = 0, unchanged = 0 } = result
    const summary = this.#summary
    summary.rows += rows - ofErased
    summary.ofErased += ofErased
    summary.unchanged += unchanged
    for (const rows of refused) this.#refuseRows(rows)
    addCounts(summary, result)
  }

  #requireTracker({ trackerId }: IncomingRow): void {
    const { onlyThisTracker = false, trackerId: only } = this.#options
    if (onlyThisTracker && trackerId !== only)
      throw new InvalidLine('trackerId must be the tracker in the path, or absent')
  }

  #addRow(row: IncomingRow, length: number, window: TrackerWindow): true {
    const at = lastInstant(row)
    if (at < window.since) {
      this.#countTooOld(window, at)
    } else {
      this.rows.push(row)
      this.text += length
    }
    return true
  }

  #refuse(error: unknown, source: string, number: number): false {
    if (!(error instanceof InvalidLine)) throw error
    this.#summary.badLines += 1
    this.#options.onBadLine(source, number, error.message)
    return false
  }

  /** Reports rows that the store refused. Only the first line of their tracker is known. */
  #refuseRows({ trackerId, rows, reason }: RefusedRows): void {
    const summary = this.#summary
    summary.rows -= rows
    summary.badLines += rows
    const { source, number } = this.#windows.get(trackerId)?.first ?? { source: '', number: 0 }
    const cause =
      reason === 'identifiers'
        ? `a data subject has at most ${maxIdentifiersPerSubject} identifiers`
        : `tracker "${trackerId}" was deleted`
    this.#options.onBadLine(source, number, `${cause}; ${rows} lines of this tracker were not stored`)
  }

  /** Stores a longer window before rows that depend on it are stored. */
  async #openWindow(id: string, first: LinePosition): Promise<TrackerWindow> {
    const { trackers, organisations, retention, retentionDays, activityDays, clock } = this.#deps
    const tracker = await trackers.find(id)
    const owner = tracker && (await organisations.find(tracker.organisationId))
    if (!owner) throw new InvalidLine(`there is no tracker "${id}"`)
    const [organisationId, plan, now] = [owner.id, owner.plan, clock()]
    if (!this.#options.dryRun) {
      const policy = { retentionDays, activityDays }
      await retention.settleWindows({ policy, now, rule: 'longer-only', organisationId, kind: 'visitors' })
    }
    const window = { organisationId, plan, since: windowStart(retentionDays, plan, now), first }
    this.#windows.set(id, window)
    return window
  }

  #countTooOld({ organisationId, plan }: TrackerWindow, at: Instant): void {
    const summary = this.#summary
    const isSame = (known: TooOldRows) => known.organisationId === organisationId && known.plan === plan
    let known = summary.tooOldRows.find(isSame)
    if (!known) {
      known = { organisationId, plan, days: this.#deps.retentionDays[plan], rows: 0, oldestAt: at }
      summary.tooOldRows.push(known)
    }
    known.rows += 1
    known.oldestAt = Math.min(known.oldestAt, at)
    summary.tooOld += 1
  }
}

function isBlank(line: string): boolean {
  return !line.startsWith('{') && line.trim() === ''
}

/** The instant by which a row ages out. */
function lastInstant(row: IncomingRow): Instant {
  return row.type === 'session' ? row.endedAt : row.occurredAt
}

/** Adds the lines refused since `before` to the counters of the store. */
export async function countRefused(
  { ingest }: Pick<IngestDeps, 'ingest'>,
  { badLines, tooOld, ofErased }: Readonly<RefusedCounts>,
  before: Readonly<RefusedCounts> = { badLines: 0, tooOld: 0, ofErased: 0 },
): Promise<void> {
  const refused = {
    bad: badLines - before.badLines,
    too_old: tooOld - before.tooOld,
    of_erased: ofErased - before.ofErased,
  }
  if (refused.bad + refused.too_old + refused.of_erased > 0) await ingest.countRefused(refused)
}

type RefusedCounts = Pick<IngestSummary, 'badLines' | 'tooOld' | 'ofErased'>

/** A line that was not stored, and why. */
export interface RefusedLine {
  line: number
  message: string
}

/** How many refused lines are returned. */
export const maxRefusedLines = 100
/** Rows are encoded soon after they are parsed: objects that wait are copied by each garbage collection. */
const rowsPerPiece = 100

/**
 * Stores the lines of one batch in one transaction, which batches of others may share. Throws `not_found` if
 * the tracker is not visible. Ends early if the signal is aborted before the batch is handed over. The blocks
 * are removed while they are read, to free their text.
 */
export async function ingestLines(
  deps: IngestDeps & { ingestQueue: IngestQueue },
  { organisationId, trackerId }: TrackerRef,
  blocks: LineBlock[],
  signal: AbortSignal,
): Promise<{ summary: IngestSummary; refused: RefusedLine[] }> {
  const tracker = await deps.trackers.find(trackerId)
  if (tracker?.organisationId !== organisationId) throw notFound('This tracker')
  const summary = emptySummary()
  const refused: RefusedLine[] = []
  const onBadLine = (_: string, line: number, message: string) => {
    if (refused.length < maxRefusedLines) refused.push({ line, message })
  }
  const batch = new LineBatch(deps, { trackerId, onlyThisTracker: true, onBadLine }, summary)
  const packed: PackedBatch = { pieces: [], rows: 0 }
  const pack = () => {
    const rows = batch.takeRows()
    if (rows.length > 0) packed.pieces.push(deps.ingest.pack(rows))
    packed.rows += rows.length
  }
  const pause = timeSlices()
  for (let block = blocks.shift(); block !== undefined; block = blocks.shift()) {
    const { source, firstNumber, lines } = block
    for (const [index, line] of lines.entries()) {
      const added = batch.add(line, source, firstNumber + index)
      if (typeof added !== 'boolean') await added
      if (batch.rows.length >= rowsPerPiece) pack()
      const paused = pause()
      if (paused === null) continue
      await paused
      signal.throwIfAborted()
    }
  }
  pack()
  if (packed.rows > 0) batch.count(packed.rows, await deps.ingestQueue.add(organisationId, packed))
  await countRefused(deps, summary)
  return { summary, refused }
}
