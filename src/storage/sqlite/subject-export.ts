import type { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Semaphore } from '../../domain/semaphore.ts'
import type { ExportedEvent, ExportedSession, ExportStore, TakePart } from '../../domain/subject-export.ts'
import { subjectKey } from '../../domain/subject-key.ts'
import type { TrackerView } from '../../domain/tracker.ts'
import { eventColumns, toExportedEvent } from '../rows/event.ts'
import type { Values } from '../rows/row.ts'
import { sessionColumnsWith, toExportedSession } from '../rows/session.ts'
import { openReader } from './connection.ts'
import type { Connections } from './connections.ts'
import { subjectReading } from './subject-reading.ts'
import { iterateValues } from './values-statement.ts'

/** Each has a connection of its own, and holds the log while it reads. */
const mostAtOnce = 4
const maxWaiting = 100
const waitTimeoutMs = 60_000
/** What is read between two turns of the event loop: a small part of what a page reads. */
const rowsPerTurn = 20
const textPerTurn = 64 * 1024

/** Exports through connections of their own, in which the store stands still while others write. */
export function exportStore({ path }: Connections): ExportStore {
  const semaphore = new Semaphore({ permits: mostAtOnce, maxWaiting, waitTimeoutMs })
  return {
    subject: (view, subjectId, take) =>
      semaphore.run(async () => {
        const db = openReader(path)
        try {
          db.exec('BEGIN')
          return await handOver(db, view, subjectId, take)
        } finally {
          db.close()
        }
      }),
  }
}

async function handOver(
  db: DatabaseSync,
  view: TrackerView,
  subjectId: string,
  take: TakePart,
): Promise<boolean> {
  const record = await subjectReading(db)(view, subjectId)
  if (record === null) return false
  await take({ kind: 'record', record })
  const [key, { since }] = [subjectKey(view.trackerId, subjectId), view]
  const sessions = iterateValues(
    db,
    `SELECT ${sessionColumnsWith('attributes')} FROM (
       SELECT session_id, started_at, ended_at, attributes, iif(started_at >= ?2, event_count, event_count - (
         SELECT count(*) FROM events e WHERE e.subject_key = ?1 AND e.occurred_at >= s.started_at
         AND e.occurred_at < ?2 AND e.session_id = s.session_id)) AS event_count
       FROM sessions s WHERE subject_key = ?1 AND ended_at >= ?2 ORDER BY started_at, session_id)`,
    [key, since],
  )
  for await (const rows of slices<ExportedSession>(sessions, toExportedSession)) {
    await take({ kind: 'sessions', rows })
  }
  const events = iterateValues(
    db,
    `SELECT ${eventColumns} FROM events WHERE subject_key = ? AND occurred_at >= ? ORDER BY occurred_at, event_id`,
    [key, since],
  )
  for await (const rows of slices<ExportedEvent>(events, toExportedEvent)) {
    await take({ kind: 'events', rows })
  }
  return true
}

/** As many rows as one turn of the event loop may read, then others come first. */
async function* slices<Row>(
  rows: Iterator<Values, undefined>,
  toRow: (values: Values) => Row,
): AsyncGenerator<Row[]> {
  for (let isDone = false; !isDone; ) {
    await nextTurn()
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
