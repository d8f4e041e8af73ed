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

/** What a batch changes in a subject's own row. */
interface SubjectChange {
  trackerId: string
  subjectId: string
  key: Uint8Array
  firstSeenAt: Instant
  lastSeenAt: Instant
  oldestAt: Instant
  /** New ones. */
  sessions: number
  events: number
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
  const sessions = sessionWriting(db)
  const putSubject = subjectWriting(db)
  const writeTotals = dailyTotalWriting(db)

  /** Stores the events that are new and hands back what they and the batch's sessions say of each session. */
  function gather(subject: SubjectBatch, totals: DailyChanges): Map<string, SessionState> {
    const said = new Map<string, SessionState>()
    const say = (sessionId: string, state: SessionState) => {
      const known = said.get(sessionId)
      said.set(sessionId, known ? merge(known, state) : state)
    }
    for (const { occurredAt, eventId, sessionId, name, properties } of subject.events) {
      const text = JSON.stringify(properties)
      const { changes } = insertEvent.run(subject.key, occurredAt, eventId, sessionId, name, text)
      if (changes === 0) continue
      totals.addEvent(subject.trackerId, occurredAt, name)
      const span = { startedAt: occurredAt, endedAt: occurredAt }
      say(sessionId, { ...span, eventCount: 1, attributes: '{}', attributesAt: null })
    }
    for (const { sessionId, startedAt, endedAt, attributes } of subject.sessions) {
      const text = JSON.stringify(attributes)
      say(sessionId, { startedAt, endedAt, eventCount: 0, attributes: text, attributesAt: endedAt })
    }
    return said
  }

  /** Stores a subject's sessions and events, and hands back what its row must be told; `null` when nothing is new. */
  function ingestSubject(subject: SubjectBatch, totals: DailyChanges): SubjectChange | null {
    const { trackerId, subjectId, key } = subject
    const change: SubjectChange = {
      trackerId,
      subjectId,
      key,
      firstSeenAt: Number.POSITIVE_INFINITY,
      lastSeenAt: Number.NEGATIVE_INFINITY,
      oldestAt: Number.POSITIVE_INFINITY,
      sessions: 0,
      events: 0,
    }
    for (const [sessionId, state] of gather(subject, totals)) {
      const stored = sessions.find(key, sessionId)
      const merged = stored ? merge(stored, state) : state
      if (stored && isSame(stored, merged)) continue
      sessions.put(key, sessionId, stored, merged)
      if (stored) totals.addSession(trackerId, stored.startedAt, -1)
      else change.sessions += 1
      totals.addSession(trackerId, merged.startedAt)
      change.events += state.eventCount
      change.firstSeenAt = Math.min(change.firstSeenAt, merged.startedAt)
      change.lastSeenAt = Math.max(change.lastSeenAt, merged.endedAt)
      change.oldestAt = Math.min(change.oldestAt, state.eventCount > 0 ? state.startedAt : merged.endedAt)
    }
    return change.firstSeenAt > change.lastSeenAt ? null : change
  }

  return {
    ingest: (batch: readonly IncomingRow[]): IngestCounts =>
      transaction(db, () => {
        const added = { subjects: 0, sessions: 0, events: 0 }
        const totals = new DailyChanges()
        const changes = bySubject(batch)
          .map((subject) => ingestSubject(subject, totals))
          .filter((change) => change !== null)
        for (const change of changes.sort(bySubjectId)) {
          if (putSubject(change)) added.subjects += 1
          added.sessions += change.sessions
          added.events += change.events
        }
        writeTotals(totals)
        return added
      }),
  }
}

function sessionWriting(db: DatabaseSync) {
  const find = db.prepare(
    `SELECT started_at, ended_at, event_count, attributes, attributes_at FROM sessions
     WHERE subject_key = ? AND session_id = ?`,
  )
  const insert = db.prepare(
    `INSERT INTO sessions (started_at, ended_at, event_count, attributes, attributes_at, subject_key, session_id)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  )
  const set = (columns: string) =>
    db.prepare(`UPDATE sessions SET ${columns} WHERE subject_key = ? AND session_id = ?`)
  const update = set('started_at = ?, ended_at = ?, event_count = ?, attributes = ?, attributes_at = ?')
  // An index is written whenever a column of it is named, changed or not.
  const updateAllButStart = set('ended_at = ?, event_count = ?, attributes = ?, attributes_at = ?')
  return {
    find(key: Uint8Array, sessionId: string): SessionState | null {
      const row = find.get(key, sessionId)
      if (!row) return null
      return {
        startedAt: integer(row, 'started_at'),
        endedAt: integer(row, 'ended_at'),
        eventCount: integer(row, 'event_count'),
        attributes: text(row, 'attributes'),
        attributesAt: integerOrNull(row, 'attributes_at'),
      }
    },
    put(key: Uint8Array, sessionId: string, stored: SessionState | null, state: SessionState): void {
      const { startedAt, endedAt, eventCount, attributes, attributesAt } = state
      if (stored?.startedAt === startedAt) {
        updateAllButStart.run(endedAt, eventCount, attributes, attributesAt, key, sessionId)
      } else {
        const statement = stored ? update : insert
        statement.run(startedAt, endedAt, eventCount, attributes, attributesAt, key, sessionId)
      }
    },
  }
}

/** Writes what is new to a subject's row; tells whether it is a new subject. */
function subjectWriting(db: DatabaseSync): (change: SubjectChange) => boolean {
  const find = db.prepare(
    'SELECT first_seen_at, last_seen_at, oldest_at FROM subjects WHERE tracker_id = ? AND subject_id = ?',
  )
  const insert = db.prepare(
    `INSERT INTO subjects (first_seen_at, last_seen_at, oldest_at, session_count, event_count, tracker_id, subject_id,
       subject_key) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const set = (columns: string) =>
    db.prepare(
      `UPDATE subjects SET ${columns}, session_count = session_count + ?, event_count = event_count + ?
       WHERE tracker_id = ? AND subject_id = ?`,
    )
  const update = set('first_seen_at = ?, last_seen_at = ?, oldest_at = ?')
  // As above: the two others are each in an index.
  const updateFirstSeen = set('first_seen_at = ?')
  return ({ trackerId, subjectId, key, sessions, events, ...seen }) => {
    const row = find.get(trackerId, subjectId)
    const counts = [sessions, events] as const
    if (!row) {
      insert.run(seen.firstSeenAt, seen.lastSeenAt, seen.oldestAt, ...counts, trackerId, subjectId, key)
      return true
    }
    const firstSeenAt = Math.min(seen.firstSeenAt, integer(row, 'first_seen_at'))
    const lastSeenAt = Math.max(seen.lastSeenAt, integer(row, 'last_seen_at'))
    const oldestAt = Math.min(seen.oldestAt, integer(row, 'oldest_at'))
    if (lastSeenAt === row.last_seen_at && oldestAt === row.oldest_at) {
      updateFirstSeen.run(firstSeenAt, ...counts, trackerId, subjectId)
    } else {
      update.run(firstSeenAt, lastSeenAt, oldestAt, ...counts, trackerId, subjectId)
    }
    return false
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

/** The order in which the subjects' own rows lie, more or less: what matters is that neighbours are written together. */
function bySubjectId(a: SubjectChange, b: SubjectChange): number {
  return a.subjectId < b.subjectId ? -1 : 1
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
