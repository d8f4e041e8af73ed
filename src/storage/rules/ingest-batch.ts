import { type Day, dayOf } from '../../domain/daily-total.ts'
import type { IncomingIdentifiers, IncomingRow, IngestResult, RefusedRows } from '../../domain/ingest.ts'
import type { Instant } from '../../domain/instant.ts'
import { subjectKey } from '../../domain/subject.ts'
import type { BroughtIdentifier } from '../../domain/subject-identifier.ts'

// What a batch means is the same on every engine; how it is written differs.

/** The state of a session: as stored, or as a batch describes it. */
export interface SessionState {
  startedAt: Instant
  endedAt: Instant
  eventCount: number
  attributes: string
  attributesAt: Instant | null
}

/**
 * What a batch changes in a subject's row. A batch that only adds identifiers does not change when it was
 * seen.
 */
export interface SubjectChange {
  trackerId: string
  subjectId: string
  key: Uint8Array
  firstSeenAt: Instant
  lastSeenAt: Instant
  oldestAt: Instant
  /** The number of new ones. */
  sessions: number
  events: number
  /** The number of session rows that bring nothing new. */
  unchangedSessions: number
}

/** A session of a batch, with its attributes as JSON. */
export interface BatchSession {
  sessionId: string
  startedAt: Instant
  endedAt: Instant
  attributes: string
  identifiers: IncomingIdentifiers | undefined
}

/** An event of a batch, with its properties as JSON. */
export interface BatchEvent {
  sessionId: string
  eventId: string
  name: string
  occurredAt: Instant
  properties: string
  identifiers: IncomingIdentifiers | undefined
}

/** The rows of one subject in a batch. */
export interface SubjectBatch {
  /** The number of the subject in the batch, from 0, by first row. */
  number: number
  key: Buffer
  trackerId: string
  subjectId: string
  sessions: BatchSession[]
  events: BatchEvent[]
}

/** Identifies a subject within a batch. */
export const nameOf = ({ trackerId, subjectId }: { trackerId: string; subjectId: string }) =>
  `${trackerId}\0${subjectId}`

/** The batch grouped by subject, ordered by key, so that tables are written in order. */
export function bySubject(batch: readonly IncomingRow[]): SubjectBatch[] {
  const subjects = new Map<string, SubjectBatch>()
  for (const row of batch) {
    const name = nameOf(row)
    let subject = subjects.get(name)
    if (!subject) {
      const { trackerId, subjectId } = row
      const key = Buffer.from(subjectKey(trackerId, subjectId))
      subject = { number: subjects.size, key, trackerId, subjectId, sessions: [], events: [] }
      subjects.set(name, subject)
    }
    const { sessionId, identifiers } = row
    if (row.type === 'session') {
      const { startedAt, endedAt } = row
      const attributes = JSON.stringify(row.attributes)
      subject.sessions.push({ sessionId, startedAt, endedAt, attributes, identifiers })
    } else {
      const { eventId, name, occurredAt } = row
      const properties = JSON.stringify(row.properties)
      subject.events.push({ sessionId, eventId, name, occurredAt, properties, identifiers })
    }
  }
  return [...subjects.values()].sort((a, b) => a.key.compare(b.key))
}

/** The subjects of existing trackers, and how many rows of other trackers were refused. */
export function withoutRefused<Subject extends { trackerId: string }>(
  subjects: readonly Subject[],
  isThere: (trackerId: string) => boolean,
  rowsOf: (subject: Subject) => number,
): { accepted: Subject[] } & Pick<IngestResult, 'refused'> {
  const refused = new Map<string, number>()
  const accepted = subjects.filter((subject) => {
    const { trackerId } = subject
    const isAccepted = isThere(trackerId)
    if (!isAccepted) refused.set(trackerId, (refused.get(trackerId) ?? 0) + rowsOf(subject))
    return isAccepted
  })
  if (refused.size === 0) return { accepted }
  return { accepted, refused: Array.from(refused, ([trackerId, rows]) => ({ trackerId, rows })) }
}

/** Reports rows of a subject with more identifiers than it may have. */
export function tooManyIdentifiers({ trackerId }: SubjectBatch, rows: number): RefusedRows {
  return { trackerId, rows, reason: 'identifiers' }
}

/** Rows refused for the same reason, as one. */
export function mergeRefused(all: readonly RefusedRows[]): Pick<IngestResult, 'refused'> {
  const merged = new Map<string, RefusedRows>()
  for (const each of all) {
    const name = `${each.reason} ${each.trackerId}`
    merged.set(name, { ...each, rows: each.rows + (merged.get(name)?.rows ?? 0) })
  }
  return merged.size === 0 ? {} : { refused: [...merged.values()] }
}

export function rowCount({ sessions, events }: SubjectBatch): number {
  return sessions.length + events.length
}

/** Removes rows that happened before an erasure, and counts them. */
export function withoutErased(
  subjects: readonly SubjectBatch[],
  refusedUntil: (subject: SubjectBatch) => Instant | null,
): { living: SubjectBatch[]; ofErased: number } {
  let ofErased = 0
  const living = subjects.flatMap((subject) => {
    const left = rowsAfter(subject, refusedUntil(subject))
    ofErased += rowCount(subject) - rowCount(left)
    return rowCount(left) === 0 ? [] : [left]
  })
  return { living, ofErased }
}

/** The subject with only those rows that happened after an erasure; as it is if there was none. */
export function rowsAfter(subject: SubjectBatch, until: Instant | null): SubjectBatch {
  if (until === null) return subject
  const events = subject.events.filter(({ occurredAt }) => occurredAt > until)
  const sessions = subject.sessions.filter(({ startedAt }) => startedAt > until)
  return { ...subject, events, sessions }
}

/** Finds and stores the sessions of one subject. */
export interface SessionLookup {
  find(sessionId: string): SessionState | null
  put(sessionId: string, stored: SessionState | null, state: SessionState): void
}

/**
 * Stores the sessions that a batch changes and returns the change to the subject's row; `null` if nothing is
 * new. `newEvents` are those that were not stored before; other rows may still contain identifiers.
 */
export function changeSubject(
  { trackerId, subjectId, key, sessions }: SubjectBatch,
  newEvents: readonly BatchEvent[],
  identifiers: readonly BroughtIdentifier[],
  lookup: SessionLookup,
): SubjectChange | null {
  const change: SubjectChange = {
    trackerId,
    subjectId,
    key,
    firstSeenAt: Number.POSITIVE_INFINITY,
    lastSeenAt: Number.NEGATIVE_INFINITY,
    oldestAt: Number.POSITIVE_INFINITY,
    sessions: 0,
    events: newEvents.length,
    unchangedSessions: 0,
  }
  const known = new Map<string, SessionState>()
  for (const [sessionId, state] of sessionsInBatch(newEvents, sessions)) {
    const stored = lookup.find(sessionId)
    if (stored) known.set(sessionId, stored)
    const merged = stored ? merge(stored, state) : state
    if (stored && isSame(stored, merged)) continue
    lookup.put(sessionId, stored, merged)
    if (!stored) change.sessions += 1
    change.firstSeenAt = Math.min(change.firstSeenAt, merged.startedAt)
    change.lastSeenAt = Math.max(change.lastSeenAt, merged.endedAt)
    change.oldestAt = Math.min(change.oldestAt, state.eventCount > 0 ? state.startedAt : merged.endedAt)
  }
  for (const { broughtAt } of identifiers) change.oldestAt = Math.min(change.oldestAt, broughtAt)
  if (change.oldestAt === Number.POSITIVE_INFINITY) return null
  change.unchangedSessions = sessions.filter((session) => {
    const stored = known.get(session.sessionId)
    return stored !== undefined && isSame(stored, merge(stored, stateOf(session)))
  }).length
  return change
}

/** How many rows of a subject were already stored as they are. */
export function unchangedRows(
  { sessions, events }: SubjectBatch,
  newEvents: number,
  change: SubjectChange | null,
): number {
  return events.length - newEvents + (change?.unchangedSessions ?? sessions.length)
}

/** The state of each session, as events and sessions of a batch describe it. */
function sessionsInBatch(
  events: readonly BatchEvent[],
  sessions: readonly BatchSession[],
): Map<string, SessionState> {
  const states = new Map<string, SessionState>()
  const add = (sessionId: string, state: SessionState) => {
    const known = states.get(sessionId)
    states.set(sessionId, known ? merge(known, state) : state)
  }
  for (const { occurredAt, sessionId } of events) {
    add(sessionId, {
      startedAt: occurredAt,
      endedAt: occurredAt,
      eventCount: 1,
      attributes: '{}',
      attributesAt: null,
    })
  }
  for (const session of sessions) add(session.sessionId, stateOf(session))
  return states
}

function stateOf({ startedAt, endedAt, attributes }: BatchSession): SessionState {
  return { startedAt, endedAt, eventCount: 0, attributes, attributesAt: endedAt }
}

/**
 * Merges two states of a session, in any order: the widest span, all events, the attributes of the latest
 * end.
 */
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

/**
 * The attributes with the later end win; with equal ends, the longer text, which usually says more, then the
 * greater one. So the order does not matter.
 */
function isNewer(a: SessionState, b: SessionState): boolean {
  if (a.attributesAt === b.attributesAt) {
    const longer = a.attributes.length - b.attributes.length
    return longer > 0 || (longer === 0 && a.attributes > b.attributes)
  }
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

/** The changes to daily totals in a transaction, collected so that each total is written once. */
export class DailyChanges {
  readonly #trackers = new Map<string, TrackerChanges>()

  addEvent(trackerId: string, occurredAt: Instant, name: string): void {
    const { events } = this.#of(trackerId)
    const day = dayOf(occurredAt)
    let names = events.get(day)
    if (!names) {
      names = new Map()
      events.set(day, names)
    }
    names.set(name, (names.get(name) ?? 0) + 1)
  }

  /** Counts a session, and takes back its earlier count if its start has changed. */
  addSession(trackerId: string, startedAt: Instant, earlierStartedAt: Instant | null): void {
    const { sessions } = this.#of(trackerId)
    const day = dayOf(startedAt)
    sessions.set(day, (sessions.get(day) ?? 0) + 1)
    if (earlierStartedAt === null) return
    const earlier = dayOf(earlierStartedAt)
    sessions.set(earlier, (sessions.get(earlier) ?? 0) - 1)
  }

  *events(): Generator<{ trackerId: string; day: Day; name: string; change: number }> {
    for (const [trackerId, { events }] of this.#trackers) {
      for (const [day, names] of events) {
        for (const [name, change] of names) yield { trackerId, day, name, change }
      }
    }
  }

  *sessions(): Generator<{ trackerId: string; day: Day; change: number }> {
    for (const [trackerId, { sessions }] of this.#trackers) {
      for (const [day, change] of sessions) yield { trackerId, day, change }
    }
  }

  #of(trackerId: string): TrackerChanges {
    let changes = this.#trackers.get(trackerId)
    if (!changes) {
      changes = { events: new Map(), sessions: new Map() }
      this.#trackers.set(trackerId, changes)
    }
    return changes
  }
}

interface TrackerChanges {
  events: Map<Day, Map<string, number>>
  sessions: Map<Day, number>
}
