import type { DatabaseSync } from 'node:sqlite'
import type { IncomingEvent, IncomingRow, IncomingSession, IngestCounts } from '../../domain/ingest.ts'
import type { Instant } from '../../domain/instant.ts'
import { subjectKey } from '../../domain/subject-key.ts'
import { transaction } from './connection.ts'
import { DailyChanges, dailyTotalWriting } from './daily-total.ts'
import { integer, integerOrNull, text } from './row.ts'

/** What a session is known to be: in the store, or as a batch speaks of it. */
interface SessionState {
  startedAt: Instant
  endedAt: Instant
  eventCount: number
  attributes: string
  attributesAt: Instant | null
}

/** A subject's rows of one batch. */
interface SubjectBatch {
  key: Buffer
  trackerId: string
  subjectId: string
  sessions: IncomingSession[]
  events: IncomingEvent[]
}

export function ingestCommands(db: DatabaseSync) {
  const insertEvent = db.prepare(
    `INSERT INTO events (subject_key, occurred_at, event_id, session_id, name, properties)
     VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  )
  const findSession = db.prepare('SELECT * FROM sessions WHERE subject_key = ? AND session_id = ?')
  const putSession = db.prepare(
    `INSERT INTO sessions (subject_key, session_id, started_at, ended_at, event_count, attributes, attributes_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET started_at = excluded.started_at, ended_at = excluded.ended_at,
       event_count = excluded.event_count, attributes = excluded.attributes, attributes_at = excluded.attributes_at`,
  )
  const putSubject = db.prepare(
    `INSERT INTO subjects (tracker_id, subject_id, subject_key, first_seen_at, last_seen_at, oldest_at,
       session_count, event_count)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET first_seen_at = min(first_seen_at, excluded.first_seen_at),
       last_seen_at = max(last_seen_at, excluded.last_seen_at), oldest_at = min(oldest_at, excluded.oldest_at),
       session_count = session_count + excluded.session_count, event_count = event_count + excluded.event_count
     RETURNING session_count`,
  )
  const writeTotals = dailyTotalWriting(db)

  function storedSession(key: Buffer, sessionId: string): SessionState | null {
    const row = findSession.get(key, sessionId)
    if (!row) return null
    return {
      startedAt: integer(row, 'started_at'),
      endedAt: integer(row, 'ended_at'),
      eventCount: integer(row, 'event_count'),
      attributes: text(row, 'attributes'),
      attributesAt: integerOrNull(row, 'attributes_at'),
    }
  }

  /** Stores the events that are new and hands back what they and the batch's sessions say of each session. */
  function gather(subject: SubjectBatch, totals: DailyChanges): Map<string, SessionState> {
    const said = new Map<string, SessionState>()
    const say = (sessionId: string, state: SessionState) => {
      const known = said.get(sessionId)
      said.set(sessionId, known ? merge(known, state) : state)
    }
    for (const event of subject.events) {
      const { occurredAt, sessionId } = event
      const properties = JSON.stringify(event.properties)
      const { changes } = insertEvent.run(
        subject.key,
        occurredAt,
        event.eventId,
        sessionId,
        event.name,
        properties,
      )
      if (changes === 0) continue
      totals.addEvent(subject.trackerId, occurredAt, event.name)
      say(sessionId, {
        startedAt: occurredAt,
        endedAt: occurredAt,
        eventCount: 1,
        attributes: '{}',
        attributesAt: null,
      })
    }
    for (const { sessionId, startedAt, endedAt, attributes } of subject.sessions) {
      const state = {
        startedAt,
        endedAt,
        eventCount: 0,
        attributes: JSON.stringify(attributes),
        attributesAt: endedAt,
      }
      say(sessionId, state)
    }
    return said
  }

  function ingestSubject(subject: SubjectBatch, totals: DailyChanges): IngestCounts {
    const { trackerId, subjectId, key } = subject
    const added = { subjects: 0, sessions: 0, events: 0 }
    let firstSeenAt = Number.POSITIVE_INFINITY
    let lastSeenAt = Number.NEGATIVE_INFINITY
    let oldestAt = Number.POSITIVE_INFINITY
    for (const [sessionId, state] of gather(subject, totals)) {
      const stored = storedSession(subject.key, sessionId)
      const merged = stored ? merge(stored, state) : state
      added.events += state.eventCount
      if (stored && isSame(stored, merged)) continue
      const { startedAt, endedAt, eventCount, attributes, attributesAt } = merged
      putSession.run(key, sessionId, startedAt, endedAt, eventCount, attributes, attributesAt)
      if (!stored) added.sessions += 1
      if (stored) totals.addSession(trackerId, stored.startedAt, -1)
      totals.addSession(trackerId, startedAt)
      firstSeenAt = Math.min(firstSeenAt, startedAt)
      lastSeenAt = Math.max(lastSeenAt, endedAt)
      oldestAt = Math.min(oldestAt, state.eventCount > 0 ? state.startedAt : endedAt)
    }
    if (firstSeenAt > lastSeenAt) return added
    const row = putSubject.get(
      trackerId,
      subjectId,
      key,
      firstSeenAt,
      lastSeenAt,
      oldestAt,
      added.sessions,
      added.events,
    )
    // A subject that was there had a session before.
    if (row?.session_count === added.sessions) added.subjects = 1
    return added
  }

  return {
    ingest: (batch: readonly IncomingRow[]): IngestCounts =>
      transaction(db, () => {
        const total = { subjects: 0, sessions: 0, events: 0 }
        const totals = new DailyChanges()
        for (const subject of bySubject(batch)) {
          const added = ingestSubject(subject, totals)
          total.subjects += added.subjects
          total.sessions += added.sessions
          total.events += added.events
        }
        writeTotals(totals)
        return total
      }),
  }
}

/** The batch by subject, in the order of their keys, so that writing walks through the tables once. */
function bySubject(batch: readonly IncomingRow[]): SubjectBatch[] {
  const subjects = new Map<string, SubjectBatch>()
  for (const row of batch) {
    const name = `${row.trackerId}\0${row.subjectId}`
    let subject = subjects.get(name)
    if (!subject) {
      const { trackerId, subjectId } = row
      const key = Buffer.from(subjectKey(trackerId, subjectId))
      subject = { key, trackerId, subjectId, sessions: [], events: [] }
      subjects.set(name, subject)
    }
    if (row.type === 'session') subject.sessions.push(row)
    else subject.events.push(row)
  }
  return [...subjects.values()].sort((a, b) => a.key.compare(b.key))
}

/** Two things said of one session, in either order: the widest span, all the events, the attributes of the latest end. */
function merge(a: SessionState, b: SessionState): SessionState {
  const newer = isNewer(b, a) ? b : a
  return {
    startedAt: Math.min(a.startedAt, b.startedAt),
    endedAt: Math.max(a.endedAt, b.endedAt),
    eventCount: a.eventCount + b.eventCount,
    attributes: newer.attributes,
    attributesAt: newer.attributesAt,
  }
}

/** Whose attributes count: those said at the later end; of the same end, the greater text, so that no order matters. */
function isNewer(a: SessionState, b: SessionState): boolean {
  if (a.attributesAt === b.attributesAt) return a.attributes > b.attributes
  return (a.attributesAt ?? Number.NEGATIVE_INFINITY) > (b.attributesAt ?? Number.NEGATIVE_INFINITY)
}

function isSame(a: SessionState, b: SessionState): boolean {
  return (
    a.startedAt === b.startedAt &&
    a.endedAt === b.endedAt &&
    a.eventCount === b.eventCount &&
    a.attributes === b.attributes &&
    a.attributesAt === b.attributesAt
  )
}
