import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { subjectKey } from '../../domain/subject.ts'
import type { ExportedEvent, ExportedSession, ExportStore } from '../../domain/subject-export.ts'
import type { TrackerView } from '../../domain/tracker.ts'
import { eventColumns, toExportedEvent } from '../nouns/event.ts'
import { asInteger, asText, type Values } from '../nouns/row.ts'
import { sessionColumnsWith, toExportedSession } from '../nouns/session.ts'
import { summaryColumns } from '../nouns/subject.ts'
import {
  beforeAll,
  type ExportSnapshot,
  type ExportStart,
  exportInSnapshots,
  type Position,
} from '../subject-export.ts'
import { openReader } from './connection.ts'
import type { Connections } from './connections.ts'
import type { ExportSnapshots } from './export-snapshots.ts'
import { subjectReading } from './subject-reading.ts'
import { iterateValues, prepareValues, type ValuesStatement } from './values-statement.ts'

/** What is read between two turns of the event loop: a small part of what a page reads. */
const rowsPerTurn = 20
const textPerTurn = 64 * 1024

/** Exports through connections of their own, in which the store stands still while others write. */
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

/** Reads a subject through a connection, in one snapshot after the other. */
class SubjectReading implements ExportSnapshot {
  readonly #db: DatabaseSync
  readonly #view: TrackerView
  readonly #subjectId: string
  readonly #key: Uint8Array
  /** A statement that is not done keeps the snapshot open. */
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

  sessions(after: Position): AsyncGenerator<ExportedSession[]> {
    return this.#slices(
      `SELECT ${sessionColumnsWith('attributes')} FROM (
         SELECT session_id, started_at, ended_at, attributes, iif(started_at >= ?2, event_count, event_count - (
           SELECT count(*) FROM events e WHERE e.subject_key = ?1 AND e.occurred_at >= s.started_at
           AND e.occurred_at < ?2 AND e.session_id = s.session_id)) AS event_count
         FROM sessions s WHERE subject_key = ?1 AND ended_at >= ?2 AND (started_at, session_id) > (?3, ?4)
         ORDER BY started_at, session_id)`,
      [this.#key, this.#view.since, ...after],
      toExportedSession,
    )
  }

  events(after: Position, last: Position): AsyncGenerator<ExportedEvent[]> {
    const from = after === beforeAll ? [this.#view.since, ''] : after
    return this.#slices(
      `SELECT ${eventColumns} FROM events WHERE subject_key = ?
       AND (occurred_at, event_id) > (?, ?) AND (occurred_at, event_id) <= (?, ?) ORDER BY occurred_at, event_id`,
      [this.#key, ...from, ...last],
      toExportedEvent,
    )
  }

  /** As many rows as one turn of the event loop may read, then others come first. The first come at once: no snapshot is for nothing. */
  async *#slices<Row>(
    sql: string,
    bound: SQLInputValue[],
    toRow: (values: Values) => Row,
  ): AsyncGenerator<Row[]> {
    if (!this.isOpen()) return
    const rows = iterateValues(this.#db, sql, bound)
    this.#rows = rows
    for (let isDone = false; !isDone; await nextTurn()) {
      const slice: Row[] = []
      for (let text = 0; slice.length < rowsPerTurn && text < textPerTurn; ) {
        const { value } = rows.next()
        isDone = value === undefined
        if (value === undefined) break
        slice.push(toRow(value))
        text += String(value.at(-1)).length
      }
      if (slice.length > 0) yield slice
    }
  }

  #prepare(sql: string): ValuesStatement {
    return prepareValues(this.#db, sql)
  }
}

function toPosition([at, id]: Values): Position {
  return [asInteger(at, 'occurred_at'), asText(id, 'event_id')]
}
