// Plain SQL on SQLite: only the rows, with the settings of Lethe's writer.
import type { DatabaseSync } from 'node:sqlite'
import { subjectKey } from '../../src/domain/subject.ts'
import { openWriter } from '../../src/storage/sqlite/connection.ts'
import { type LineOrder, subjectsIn, tracker, visits } from '../stores/visits.ts'

const insertedAtOnce = 5_000
/** The limits of a step of a sweep. */
const deletedAtOnce = { rows: 5_000, subjects: 1_000 }

/** Deletes subjects, one after the other. */
export class PlainDeletes {
  readonly #db: DatabaseSync
  readonly #statements

  constructor(path: string) {
    this.#db = openWriter(path)
    this.#statements = {
      events: this.#db.prepare('DELETE FROM events WHERE subject_key = ?'),
      sessions: this.#db.prepare('DELETE FROM sessions WHERE subject_key = ?'),
      subject: this.#db.prepare('DELETE FROM subjects WHERE tracker_id = ? AND subject_id = ?'),
    }
  }

  /** The time to delete the rows of a subject, and the time until the write-ahead log is truncated too. */
  delete(subjectId: string, events: number): { bareMs: number; truncatedMs: number } {
    const { events: deleteEvents, sessions: deleteSessions, subject: deleteSubject } = this.#statements
    const key = subjectKey(tracker, subjectId)
    const from = performance.now()
    this.#db.exec('BEGIN IMMEDIATE')
    const { changes } = deleteEvents.run(key)
    deleteSessions.run(key)
    deleteSubject.run(tracker, subjectId)
    this.#db.exec('COMMIT')
    const bareMs = performance.now() - from
    this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    const truncatedMs = performance.now() - from
    if (changes !== events) throw new Error(`${changes} events were there, not ${events}`)
    return { bareMs, truncatedMs }
  }

  close(): void {
    this.#db.close()
  }
}

/** The time to read and discard all sessions and events of a subject, oldest first. */
export function readAllPlainly(path: string, subjectId: string, events: number): number {
  const db = openWriter(path)
  const key = subjectKey(tracker, subjectId)
  const from = performance.now()
  let found = 0
  for (const _ of db
    .prepare('SELECT * FROM sessions WHERE subject_key = ? ORDER BY started_at')
    .iterate(key)) {
    // Only reading is measured.
  }
  const all = db.prepare('SELECT * FROM events WHERE subject_key = ? ORDER BY occurred_at, event_id')
  for (const _ of all.iterate(key)) found += 1
  const tookMs = performance.now() - from
  db.close()
  if (found !== events) throw new Error(`${found} events were there, not ${events}`)
  return tookMs
}

/** Rows per second of batched inserts without checks and counts; generating the rows is not timed. */
export function insertPlainly(path: string, lines: number, order: LineOrder): number {
  const db = openWriter(path)
  const insertSubject = db.prepare(
    'INSERT INTO subjects VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, 0) ON CONFLICT DO NOTHING',
  )
  const insertSession = db.prepare('INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?)')
  const insertEvent = db.prepare('INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, 0)')
  let spentMs = 0
  let batch: (() => unknown)[] = []
  function store(): void {
    const from = performance.now()
    db.exec('BEGIN IMMEDIATE')
    for (const insert of batch) insert()
    db.exec('COMMIT')
    spentMs += performance.now() - from
    batch = []
  }
  const seen = new Set<string>()
  for (const row of visits(lines, order)) {
    const key = subjectKey(row.trackerId, row.subjectId)
    if (row.type === 'event') {
      const properties = JSON.stringify(row.properties)
      batch.push(() => insertEvent.run(key, row.occurredAt, row.eventId, row.sessionId, row.name, properties))
    } else {
      const attributes = JSON.stringify(row.attributes)
      const { startedAt, endedAt } = row
      batch.push(() => insertSession.run(key, row.sessionId, startedAt, endedAt, 4, attributes, endedAt))
      if (!seen.has(row.subjectId)) {
        seen.add(row.subjectId)
        batch.push(() =>
          insertSubject.run(row.trackerId, row.subjectId, key, startedAt, endedAt, 3, 12, startedAt),
        )
      }
    }
    if (batch.length >= insertedAtOnce) store()
  }
  store()
  db.close()
  return (lines + subjectsIn(lines)) / (spentMs / 1_000)
}

/** The time to delete older data, subject by subject, without counts. Finding the subjects is not timed. */
export function deleteAgedPlainly(path: string, since: number): number {
  const db = openWriter(path)
  const aged = db.prepare(
    'SELECT subject_key FROM subjects WHERE tracker_id = ? AND oldest_at < ? ORDER BY oldest_at',
  )
  const keys = aged.all(tracker, since).map((row) => row.subject_key ?? null)
  const deleteEvents = db.prepare('DELETE FROM events WHERE subject_key = ? AND occurred_at < ?')
  const deleteSessions = db.prepare('DELETE FROM sessions WHERE subject_key = ? AND ended_at < ?')
  const from = performance.now()
  let room = { ...deletedAtOnce }
  db.exec('BEGIN IMMEDIATE')
  for (const key of keys) {
    room.rows -= Number(deleteEvents.run(key, since).changes) + Number(deleteSessions.run(key, since).changes)
    room.subjects -= 1
    if (room.rows > 0 && room.subjects > 0) continue
    db.exec('COMMIT; BEGIN IMMEDIATE')
    room = { ...deletedAtOnce }
  }
  db.exec('COMMIT')
  const tookMs = performance.now() - from
  db.close()
  return tookMs
}
