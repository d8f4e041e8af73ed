import type { DatabaseSync } from 'node:sqlite'
import type { Instant } from '../../domain/instant.ts'
import type { SweepStep, SweptCounts } from '../../domain/retention.ts'
import { sweptBefore, windowOf } from '../nouns/retention.ts'
import { blob, integer, type Row, text } from '../nouns/row.ts'
import { noteDeletion } from '../nouns/scrub.ts'
import type { TrackerSweep } from '../nouns/stores.ts'
import { transaction } from './connection.ts'
import { type Connections, type SqliteRun, statementRunner } from './connections.ts'
import { identifierDeletion } from './identifier.ts'

/** A subject with expired data. */
interface AgedSubject {
  subjectId: string
  key: Uint8Array
  lastSeenAt: Instant
  sessionCount: number
  eventCount: number
}

/** The most subjects per step: one may have very little to delete. */
const maxSubjects = 1_000

/** After everything that was collected. */
const afterEverything = Number.MAX_SAFE_INTEGER

/** Deletes and counts expired data of trackers. */
export function trackerSweep({
  reader,
  writer,
}: Connections<ReturnType<typeof sweepCommands>>): TrackerSweep {
  const run = statementRunner(reader)
  const aged = reader.prepare('SELECT 1 FROM subjects WHERE tracker_id = ? AND oldest_at < ? LIMIT 1')
  const count = (rows: string) =>
    `(SELECT count(*) FROM subjects JOIN ${rows} USING (subject_key) WHERE tracker_id = ?1 AND oldest_at < ?2`
  const countBefore = reader.prepare(
    `SELECT (SELECT count(*) FROM subjects WHERE tracker_id = ?1 AND last_seen_at < ?2) AS subjects,
       ${count('sessions')} AND started_at < ?2 AND ended_at < ?2) AS sessions,
       ${count('events')} AND occurred_at < ?2) AS events`,
  )
  return {
    sweepAll: (trackerId, maxRows) => writer.run('sweepAll', trackerId, maxRows),
    // Usually there is nothing to do, and then the writer is not used.
    async sweep(trackerId, step) {
      const since = sweptBefore(run(windowOf.visitors, { id: trackerId }).rows, 'visitors', step)
      if (since === null || !aged.get(trackerId, since)) {
        return { subjects: 0, sessions: 0, events: 0, isDone: true }
      }
      return writer.run('sweep', trackerId, step)
    },
    async countBefore(trackerId, since) {
      const row = countBefore.get(trackerId, since) ?? {}
      return {
        subjects: integer(row, 'subjects'),
        sessions: integer(row, 'sessions'),
        events: integer(row, 'events'),
      }
    },
  }
}

export function sweepCommands(db: DatabaseSync, run: SqliteRun) {
  const sweepBefore = sweeping(db, run)
  return {
    sweep: (trackerId: string, step: SweepStep): SweptCounts & { isDone: boolean } =>
      transaction(db, () => {
        const since = sweptBefore(run(windowOf.visitors, { id: trackerId }).rows, 'visitors', step)
        return since === null
          ? { subjects: 0, sessions: 0, events: 0, isDone: true }
          : sweepBefore(trackerId, since, step.maxRows)
      }),
    /** Deletes some of a tracker's data, whatever its age. */
    sweepAll: (trackerId: string, maxRows: number): SweptCounts & { isDone: boolean } =>
      transaction(db, () => sweepBefore(trackerId, afterEverything, maxRows)),
  }
}

/** Deletes some of a tracker's data from before an instant, within a transaction. */
function sweeping(
  db: DatabaseSync,
  run: SqliteRun,
): (trackerId: string, since: Instant, maxRows: number) => SweptCounts & { isDone: boolean } {
  const agedSubjects = db.prepare(
    `SELECT subject_id, subject_key, last_seen_at, session_count, event_count FROM subjects
     WHERE tracker_id = ? AND oldest_at < ? ORDER BY oldest_at LIMIT ?`,
  )
  const updateSubject = db.prepare(
    `UPDATE subjects SET session_count = ?, event_count = ?, first_seen_at = ?, oldest_at = ?
     WHERE tracker_id = ? AND subject_id = ?`,
  )
  const deleteSubject = db.prepare('DELETE FROM subjects WHERE tracker_id = ? AND subject_id = ?')
  const identifiers = identifierDeletion(db)
  const events = agedEvents(db)
  const sessions = agedSessions(db)

  function sweepSubject(trackerId: string, subject: AgedSubject, since: Instant, room: number): SweptCounts {
    const { key, subjectId, sessionCount, eventCount } = subject
    if (subject.lastSeenAt < since && sessionCount + eventCount <= room) {
      events.deleteAll(key)
      sessions.deleteAll(key)
      identifiers.deleteAll(key)
      deleteSubject.run(trackerId, subjectId)
      return { subjects: 1, sessions: sessionCount, events: eventCount }
    }
    const isWhole = sessionCount + eventCount <= room
    const whole = isWhole ? sessions.find(subject, since, room) : null
    // Unless all expired data is deleted in this step and no session spans the start of the window, sessions
    // remain and their counts matter.
    const sweptEvents = events.sweep(subject, since, room, whole === null || whole.isSpanning)
    const { expired, firstSeenAt, earliestEnd } = whole ?? sessions.find(subject, since, room - sweptEvents)
    for (const sessionId of expired) sessions.delete(key, sessionId)
    if (firstSeenAt === null) {
      identifiers.deleteAll(key)
      deleteSubject.run(trackerId, subjectId)
    } else {
      if (identifiers.first(key) < since && identifiers.deleteAged(key, since)) noteDeletion(run)
      const oldestAt = Math.min(events.first(key), identifiers.first(key), earliestEnd)
      const left = [sessionCount - expired.length, eventCount - sweptEvents] as const
      updateSubject.run(...left, firstSeenAt, oldestAt, trackerId, subjectId)
    }
    return { subjects: firstSeenAt === null ? 1 : 0, sessions: expired.length, events: sweptEvents }
  }

  return (trackerId, since, maxRows) => {
    const total = { subjects: 0, sessions: 0, events: 0 }
    const aged = agedSubjects.all(trackerId, since, maxSubjects).map(toAgedSubject)
    let room = maxRows
    for (const subject of aged) {
      if (room <= 0) break
      const swept = sweepSubject(trackerId, subject, since, room)
      total.subjects += swept.subjects
      total.sessions += swept.sessions
      total.events += swept.events
      room -= swept.sessions + swept.events
    }
    if (room < maxRows || total.subjects > 0) noteDeletion(run)
    return { ...total, isDone: room > 0 && aged.length < maxSubjects }
  }
}

function agedEvents(db: DatabaseSync) {
  const first = db.prepare(
    'SELECT occurred_at FROM events WHERE subject_key = ? ORDER BY occurred_at, event_id LIMIT 1',
  )
  const beyond = db.prepare(
    `SELECT occurred_at, event_id FROM events WHERE subject_key = ? AND occurred_at < ?
     ORDER BY occurred_at, event_id LIMIT 1 OFFSET ?`,
  )
  const range = 'WHERE subject_key = ? AND (occurred_at, event_id) < (?, ?)'
  const bySession = db.prepare(
    `SELECT session_id, count(*) AS count FROM events ${range} GROUP BY session_id`,
  )
  const deleteRange = db.prepare(`DELETE FROM events ${range}`)
  const deleteAll = db.prepare('DELETE FROM events WHERE subject_key = ?')
  const takeOff = db.prepare(
    'UPDATE sessions SET event_count = event_count - ? WHERE subject_key = ? AND session_id = ?',
  )
  return {
    deleteAll: (key: Uint8Array) => deleteAll.run(key),
    /** When the first remaining event occurred; infinity if there is none. */
    first: (key: Uint8Array): Instant => Number(first.get(key)?.occurred_at ?? Number.POSITIVE_INFINITY),
    /**
     * Deletes the oldest `room` events from before `since`. Subtracts them from their sessions' counts if
     * these matter.
     */
    sweep({ key, eventCount }: AgedSubject, since: Instant, room: number, doCountsMatter: boolean): number {
      const end = eventCount > room ? beyond.get(key, since, room) : undefined
      const until = end
        ? ([integer(end, 'occurred_at'), text(end, 'event_id')] as const)
        : ([since, ''] as const)
      if (doCountsMatter) {
        for (const row of bySession.all(key, ...until)) {
          takeOff.run(integer(row, 'count'), key, text(row, 'session_id'))
        }
      }
      return Number(deleteRange.run(key, ...until).changes)
    },
  }
}

/** The sessions of a subject, seen from the start of a window. */
interface FoundSessions {
  /** Those to delete in this step. */
  expired: string[]
  /** Whether one began before the window and remains. */
  isSpanning: boolean
  /** When the earliest that remains started; `null` if none does. */
  firstSeenAt: Instant | null
  /** The earliest end of those that remain. */
  earliestEnd: Instant
}

function agedSessions(db: DatabaseSync) {
  const byStart = db.prepare(
    `SELECT session_id, started_at, ended_at FROM sessions INDEXED BY sessions_by_start
     WHERE subject_key = ? ORDER BY started_at, session_id`,
  )
  const deleteAll = db.prepare('DELETE FROM sessions WHERE subject_key = ?')
  const deleteOne = db.prepare('DELETE FROM sessions WHERE subject_key = ? AND session_id = ?')
  const lastToEnd = db.prepare(
    `SELECT session_id FROM sessions WHERE subject_key = ? AND ended_at = ?
     ORDER BY started_at DESC, session_id DESC LIMIT 1`,
  )
  return {
    deleteAll: (key: Uint8Array) => deleteAll.run(key),
    delete: (key: Uint8Array, sessionId: string) => deleteOne.run(key, sessionId),
    /**
     * Finds `room` sessions that ended before `since`. If not all fit, the one that ended last stays for
     * another step, so that `last_seen_at` remains true. Reads in order of start, and stops where no session
     * can have expired or end earlier than those before it.
     */
    find({ key, lastSeenAt, sessionCount }: AgedSubject, since: Instant, room: number): FoundSessions {
      const keptRow = lastSeenAt < since && sessionCount > room ? lastToEnd.get(key, lastSeenAt) : undefined
      const kept = keptRow && text(keptRow, 'session_id')
      const found: FoundSessions = {
        expired: [],
        isSpanning: false,
        firstSeenAt: null,
        earliestEnd: Number.POSITIVE_INFINITY,
      }
      for (const row of byStart.iterate(key)) {
        const [startedAt, endedAt] = [integer(row, 'started_at'), integer(row, 'ended_at')]
        const isFull = found.expired.length >= room
        if (startedAt >= found.earliestEnd && (isFull || startedAt >= since)) break
        const sessionId = text(row, 'session_id')
        if (!isFull && endedAt < since && sessionId !== kept) {
          found.expired.push(sessionId)
          continue
        }
        if (startedAt < since) found.isSpanning = true
        found.firstSeenAt ??= startedAt
        found.earliestEnd = Math.min(found.earliestEnd, endedAt)
      }
      return found
    },
  }
}

function toAgedSubject(row: Row): AgedSubject {
  return {
    subjectId: text(row, 'subject_id'),
    key: blob(row, 'subject_key'),
    lastSeenAt: integer(row, 'last_seen_at'),
    sessionCount: integer(row, 'session_count'),
    eventCount: integer(row, 'event_count'),
  }
}
