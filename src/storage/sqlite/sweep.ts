import type { DatabaseSync } from 'node:sqlite'
import { addCounts, type DataCounts } from '../../domain/activity.ts'
import type { Instant } from '../../domain/instant.ts'
import type { SweepStep } from '../../domain/retention.ts'
import { sweptBefore, windowOf } from '../nouns/retention.ts'
import { asBlob, asInteger, asText, integer, text, type Values } from '../nouns/row.ts'
import { noteDeletion } from '../nouns/scrub.ts'
import type { TrackerSweep } from '../nouns/stores.ts'
import { transaction } from './connection.ts'
import { type Connections, prepareValues, type SqliteRun, statementRunner } from './connections.ts'
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

/** With at most this many sessions, all of them are read to find those that have expired. */
const maxScannedSessions = 50

/** What a step deleted of a subject, and what remains. */
interface SweptSubject extends Pick<FoundSessions, 'firstSeenAt' | 'earliestEnd'> {
  sweptSessions: number
  sweptEvents: number
}

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
    sweep: (trackerId: string, step: SweepStep): DataCounts & { isDone: boolean } =>
      transaction(db, () => {
        const since = sweptBefore(run(windowOf.visitors, { id: trackerId }).rows, 'visitors', step)
        return since === null
          ? { subjects: 0, sessions: 0, events: 0, isDone: true }
          : sweepBefore(trackerId, since, step.maxRows)
      }),
    /** Deletes some of a tracker's data, whatever its age. */
    sweepAll: (trackerId: string, maxRows: number): DataCounts & { isDone: boolean } =>
      transaction(db, () => sweepBefore(trackerId, afterEverything, maxRows)),
  }
}

/** Deletes some of a tracker's data from before an instant, within a transaction. */
function sweeping(
  db: DatabaseSync,
  run: SqliteRun,
): (trackerId: string, since: Instant, maxRows: number) => DataCounts & { isDone: boolean } {
  const agedSubjects = prepareValues(
    db,
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

  function sweepSubject(trackerId: string, subject: AgedSubject, since: Instant, room: number): DataCounts {
    const { key, subjectId, sessionCount, eventCount } = subject
    if (subject.lastSeenAt < since && sessionCount + eventCount <= room) {
      events.deleteAll(key)
      sessions.deleteAll(key)
      identifiers.deleteAll(key)
      deleteSubject.run(trackerId, subjectId)
      return { subjects: 1, sessions: sessionCount, events: eventCount }
    }
    const isWhole = sessionCount + eventCount <= room
    const isShort = isWhole && subject.lastSeenAt >= since && sessionCount <= maxScannedSessions
    const swept = isShort ? sweepShort(key, since) : sweepLong(subject, since, room, isWhole)
    const { sweptSessions, sweptEvents, firstSeenAt, earliestEnd } = swept
    if (firstSeenAt === null) {
      identifiers.deleteAll(key)
      deleteSubject.run(trackerId, subjectId)
    } else {
      const firstIdentifier = identifiers.first(key)
      const hasAged = firstIdentifier < since && identifiers.deleteAged(key, since)
      if (hasAged) noteDeletion(run)
      const oldestAt = Math.min(
        events.first(key),
        hasAged ? identifiers.first(key) : firstIdentifier,
        earliestEnd,
      )
      const left = [sessionCount - sweptSessions, eventCount - sweptEvents] as const
      updateSubject.run(...left, firstSeenAt, oldestAt, trackerId, subjectId)
    }
    return { subjects: firstSeenAt === null ? 1 : 0, sessions: sweptSessions, events: sweptEvents }
  }

  /** For subjects with few sessions, all of whose expired data is deleted in this step, and which remain. */
  function sweepShort(key: Uint8Array, since: Instant): SweptSubject {
    const sweptSessions = sessions.deleteAged(key, since)
    const left = sessions.left(key)
    // A session that spans the start of the window remains, and its count matters.
    const isSpanning = left.firstSeenAt !== null && left.firstSeenAt < since
    return { sweptSessions, sweptEvents: events.sweepBefore(key, [since, ''], isSpanning), ...left }
  }

  function sweepLong(subject: AgedSubject, since: Instant, room: number, isWhole: boolean): SweptSubject {
    const whole = isWhole ? sessions.find(subject, since, room) : null
    // Unless all expired data is deleted in this step and no session spans the start of the window, sessions
    // remain and their counts matter.
    const sweptEvents = events.sweep(subject, since, room, whole === null || whole.isSpanning)
    const found = whole ?? sessions.find(subject, since, room - sweptEvents)
    for (const sessionId of found.expired) sessions.delete(subject.key, sessionId)
    const { firstSeenAt, earliestEnd } = found
    return { sweptSessions: found.expired.length, sweptEvents, firstSeenAt, earliestEnd }
  }

  return (trackerId, since, maxRows) => {
    const total = { subjects: 0, sessions: 0, events: 0 }
    // In the order of their sessions and events on disk, so that neighbours are changed together.
    const aged = agedSubjects
      .all(trackerId, since, maxSubjects)
      .map(toAgedSubject)
      .sort((a, b) => Buffer.compare(a.key, b.key))
    let room = maxRows
    for (const subject of aged) {
      if (room <= 0) break
      const swept = sweepSubject(trackerId, subject, since, room)
      addCounts(total, swept)
      room -= swept.sessions + swept.events
    }
    if (room < maxRows || total.subjects > 0) noteDeletion(run)
    return { ...total, isDone: room > 0 && aged.length < maxSubjects }
  }
}

/** The position of the first event that remains. */
type Until = readonly [occurredAt: Instant, eventId: string]

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

  function sweepBefore(key: Uint8Array, until: Until, doCountsMatter: boolean): number {
    if (doCountsMatter) {
      for (const row of bySession.all(key, ...until)) {
        takeOff.run(integer(row, 'count'), key, text(row, 'session_id'))
      }
    }
    return Number(deleteRange.run(key, ...until).changes)
  }

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
      const until: Until = end ? [integer(end, 'occurred_at'), text(end, 'event_id')] : [since, '']
      return sweepBefore(key, until, doCountsMatter)
    },
    sweepBefore,
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
  const deleteAged = db.prepare('DELETE FROM sessions WHERE subject_key = ? AND ended_at < ?')
  const left = prepareValues(db, 'SELECT min(started_at), min(ended_at) FROM sessions WHERE subject_key = ?')
  const lastToEnd = db.prepare(
    `SELECT session_id FROM sessions WHERE subject_key = ? AND ended_at = ?
     ORDER BY started_at DESC, session_id DESC LIMIT 1`,
  )
  return {
    deleteAll: (key: Uint8Array) => deleteAll.run(key),
    delete: (key: Uint8Array, sessionId: string) => deleteOne.run(key, sessionId),
    deleteAged: (key: Uint8Array, since: Instant) => Number(deleteAged.run(key, since).changes),
    left(key: Uint8Array): Pick<FoundSessions, 'firstSeenAt' | 'earliestEnd'> {
      const [firstSeenAt = null, earliestEnd = null] = left.get(key) ?? []
      return firstSeenAt === null
        ? { firstSeenAt: null, earliestEnd: Number.POSITIVE_INFINITY }
        : {
            firstSeenAt: asInteger(firstSeenAt, 'started_at'),
            earliestEnd: asInteger(earliestEnd, 'ended_at'),
          }
    },
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

function toAgedSubject([subjectId, key, lastSeenAt, sessionCount, eventCount]: Values): AgedSubject {
  return {
    subjectId: asText(subjectId, 'subject_id'),
    key: asBlob(key, 'subject_key'),
    lastSeenAt: asInteger(lastSeenAt, 'last_seen_at'),
    sessionCount: asInteger(sessionCount, 'session_count'),
    eventCount: asInteger(eventCount, 'event_count'),
  }
}
