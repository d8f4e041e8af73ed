import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { subjectKey } from '../../domain/subject.ts'
import type { ExportedEvent, ExportedSession, ExportStore } from '../../domain/subject-export.ts'
import type { TrackerView } from '../../domain/tracker.ts'
import { asInteger, asText, type Values } from '../nouns/row.ts'
import {
  eventColumns,
  sessionColumnsWith,
  summaryColumns,
  toExportedEvent,
  toExportedSession,
} from '../nouns/subject.ts'
import {
  beforeAll,
  type ExportSnapshot,
  type ExportStart,
  exportInSnapshots,
  maxSnapshotMs,
  type Position,
  type Slice,
} from '../rules/export.ts'
import { openReader } from './connection.ts'
import { type Connections, iterateValues, prepareValues, type ValuesStatement } from './connections.ts'
import { subjectPresence, subjectReading } from './subject.ts'

/** What is read between two turns of the event loop: a fraction of a page. */
const rowsPerTurn = 20
const textPerTurn = 64 * 1024

/** Exports through separate connections, each with its own snapshot. */
export function exportStore({ path }: Connections, snapshots: ExportSnapshots): ExportStore {
  return {
    async subject(view, subjectId, take, giveWay) {
      const db = openReader(path)
      try {
        const reading = new SubjectReading(db, view, subjectId)
        return await exportInSnapshots(
          async (read) => {
            const end = await snapshots.begin(
              () => db.exec('BEGIN'),
              () => reading.end(),
            )
            try {
              return await read(reading)
            } finally {
              end()
            }
          },
          take,
          giveWay,
        )
      } finally {
        db.close()
      }
    },
  }
}

/** Reads a subject through one connection, in consecutive snapshots. */
class SubjectReading implements ExportSnapshot {
  readonly #db: DatabaseSync
  readonly #view: TrackerView
  readonly #subjectId: string
  readonly #key: Uint8Array
  /** An unfinished statement keeps the snapshot open. */
  #rows: Generator<Values, undefined> | null = null

  constructor(db: DatabaseSync, view: TrackerView, subjectId: string) {
    this.#db = db
    this.#view = view
    this.#subjectId = subjectId
    this.#key = subjectKey(view.trackerId, subjectId)
  }

  isOpen(): boolean {
    return this.#db.isTransaction
  }

  end(): void {
    this.#rows?.return(undefined)
    if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
  }

  async start(): Promise<ExportStart | null> {
    const record = await subjectReading(this.#db)(this.#view, this.#subjectId)
    const stamp = await this.stamp()
    if (record === null || stamp === null) return null
    const last = this.#prepare(
      `SELECT occurred_at, event_id FROM events WHERE subject_key = ?
       ORDER BY occurred_at DESC, event_id DESC LIMIT 1`,
    ).get(this.#key)
    return { record, stamp, lastEvent: last && toPosition(last) }
  }

  async stamp(): Promise<string | null> {
    const row = this.#prepare(
      `SELECT ${summaryColumns}, oldest_at FROM subjects WHERE tracker_id = ? AND subject_id = ?`,
    ).get(this.#view.trackerId, this.#subjectId)
    return row && JSON.stringify(row)
  }

  async hasEvent([at, id]: Position): Promise<boolean> {
    const found = this.#prepare(
      'SELECT 1 FROM events WHERE subject_key = ? AND occurred_at = ? AND event_id = ?',
    )
    return found.get(this.#key, at, id) !== null
  }

  /** Also reads expired sessions, without their texts, so that passing over many of them yields in between. */
  sessions(after: Position): AsyncGenerator<Slice<ExportedSession>> {
    const { since } = this.#view
    const isInterleaved = subjectPresence(this.#db)(this.#view, this.#subjectId)?.isInterleaved
    const agedEvents = `SELECT count(*) FROM events e ${isInterleaved ? 'INDEXED BY events_by_session' : ''}
      WHERE e.subject_key = ?1 AND e.occurred_at >= s.started_at AND e.occurred_at < ?2
      AND e.session_id = s.session_id ${isInterleaved ? 'AND e.interleaved = 1' : ''}`
    return this.#slices(
      `SELECT ${sessionColumnsWith('attributes')} FROM (
         SELECT session_id, started_at, ended_at, iif(ended_at >= ?2, attributes, NULL) AS attributes,
           CASE WHEN ended_at < ?2 THEN 0 WHEN started_at >= ?2 THEN event_count
             ELSE event_count - (${agedEvents}) END AS event_count
         FROM sessions s WHERE subject_key = ?1 AND (started_at, session_id) > (?3, ?4)
         ORDER BY started_at, session_id)`,
      [this.#key, since, ...after],
      (row) => (asInteger(row[2], 'ended_at') >= since ? toExportedSession(row) : null),
      ([sessionId, startedAt]) => toPosition([startedAt, sessionId]),
    )
  }

  events(after: Position, last: Position): AsyncGenerator<Slice<ExportedEvent>> {
    const from = after === beforeAll ? [this.#view.since, ''] : after
    return this.#slices(
      `SELECT ${eventColumns} FROM events WHERE subject_key = ?
       AND (occurred_at, event_id) > (?, ?) AND (occurred_at, event_id) <= (?, ?) ORDER BY occurred_at, event_id`,
      [this.#key, ...from, ...last],
      toExportedEvent,
      ([eventId, , , occurredAt]) => toPosition([occurredAt, eventId]),
    )
  }

  /**
   * Yields as many rows as one turn of the event loop may read. The first are read immediately, so that every
   * snapshot makes progress.
   */
  async *#slices<Row>(
    sql: string,
    bound: SQLInputValue[],
    toRow: (values: Values) => Row | null,
    positionOf: (values: Values) => Position,
  ): AsyncGenerator<Slice<Row>> {
    if (!this.isOpen()) return
    const rows = iterateValues(this.#db, sql, bound)
    this.#rows = rows
    for (let isDone = false; !isDone; await nextTurn()) {
      const slice: Row[] = []
      let last: Position | null = null
      for (let read = 0, text = 0; read < rowsPerTurn && text < textPerTurn; read++) {
        const { value } = rows.next()
        isDone = value === undefined
        if (value === undefined) break
        const row = toRow(value)
        if (row !== null) slice.push(row)
        last = positionOf(value)
        text += String(value.at(-1)).length
      }
      if (last !== null) yield { rows: slice, last }
    }
  }

  #prepare(sql: string): ValuesStatement {
    return prepareValues(this.#db, sql)
  }
}

function toPosition([at, id]: Values): Position {
  return [asInteger(at, 'at'), asText(id, 'id')]
}

/** How much longer snapshots last once the log is to be emptied: most exports end by then. */
const graceMs = 250
/** Long enough for another process, which retries every millisecond, to find the log free. */
const gapMs = 5
/** Longer than the interval between two attempts to empty a log that another process holds. */
const longGapMs = 400

/**
 * The snapshots of all exports. They end together, so that there are gaps in which the log can be emptied:
 * soon after this process needs it, and often enough for other processes.
 */
export class ExportSnapshots {
  readonly #open = new Set<() => void>()
  #timer: NodeJS.Timeout | undefined
  #endsAt = 0
  /** While set, no snapshot begins. */
  #gap: Promise<void> | null = null
  #endGap = () => {}
  #isLogWanted = false

  /**
   * Calls `open` as soon as a snapshot may begin, and `end` when it must end. Resolves to a function that
   * ends it earlier.
   */
  async begin(open: () => void, end: () => void): Promise<() => void> {
    while (this.#gap !== null) await this.#gap
    open()
    if (this.#open.size === 0) this.#endAt(performance.now() + maxSnapshotMs)
    this.#open.add(end)
    return () => this.#end(end)
  }

  /** Called when the log is to be emptied while somebody reads it, and when that is over. */
  noteLogWanted(isWanted: boolean): void {
    this.#isLogWanted = isWanted
    if (!isWanted) this.#endGap()
    else {
      this.#beginGap(graceMs + longGapMs)
      if (this.#open.size > 0) this.#endAt(Math.min(this.#endsAt, performance.now() + graceMs))
    }
  }

  #endAt(endsAt: number): void {
    this.#endsAt = endsAt
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#endAll(), endsAt - performance.now()).unref()
  }

  #endAll(): void {
    for (const end of this.#open) this.#end(end)
    this.#beginGap(this.#isLogWanted ? longGapMs : gapMs)
  }

  #end(end: () => void): void {
    if (!this.#open.delete(end)) return
    if (this.#open.size === 0) clearTimeout(this.#timer)
    end()
  }

  #beginGap(longestMs: number): void {
    if (this.#gap !== null) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#endGap = resolve
    this.#gap = Promise.race([promise, delay(longestMs, undefined, { ref: false })]).then(() => {
      this.#gap = null
    })
  }
}
