import { type Day, dayOf } from '../../domain/daily-total.ts'
import type { IncomingEvent, IncomingRow, IncomingSession, IngestResult } from '../../domain/ingest.ts'
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

/** The rows of one subject in a batch. */
export interface SubjectBatch {
  /** The number of the subject in the batch, from 0, by first row. */
  number: number
  key: Buffer
  trackerId: string
  subjectId: string
  sessions: IncomingSession[]
  events: IncomingEvent[]
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
    if (row.type === 'session') subject.sessions.push(row)
    else subject.events.push(row)
  }
  return [...subjects.values()].sort((a, b) => a.key.compare(b.key))
}

/** The subjects of existing trackers, and how many rows of other trackers were refused. */
export function withoutRefused(
  subjects: readonly SubjectBatch[],
  isThere: (trackerId: string) => boolean,
): { accepted: SubjectBatch[] } & Pick<IngestResult, 'refused'> {
  const refused = new Map<string, number>()
  const accepted = subjects.filter(({ trackerId, sessions, events }) => {
    const isAccepted = isThere(trackerId)
    const rows = sessions.length + events.length
    if (!isAccepted) refused.set(trackerId, (refused.get(trackerId) ?? 0) + rows)
    return isAccepted
  })
  if (refused.size === 0) return { accepted }
  return { accepted, refused: Array.from(refused, ([trackerId, rows]) => ({ trackerId, rows })) }
}

/** Removes rows that happened before an erasure, and counts them. */
export function withoutErased(
  subjects: readonly SubjectBatch[],
  refusedUntil: (subject: SubjectBatch) => Instant | null,
): { living: SubjectBatch[]; ofErased: number } {
  let ofErased = 0
  const living = subjects.flatMap((subject) => {
    const until = refusedUntil(subject)
    if (until === null) return [subject]
    const events = subject.events.filter(({ occurredAt }) => occurredAt > until)
    const sessions = subject.sessions.filter(({ startedAt }) => startedAt > until)
    const left = events.length + sessions.length
    ofErased += subject.events.length + subject.sessions.length - left
    return left === 0 ? [] : [{ ...subject, events, sessions }]
  })
  return { living, ofErased }
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
  newEvents: readonly IncomingEvent[],
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
  events: readonly IncomingEvent[],
  sessions: readonly IncomingSession[],
): Map<string, SessionState> {
  const said = new Map<string, SessionState>()
  const say = (sessionId: string, state: SessionState) => {
    const known = said.get(sessionId)
    said.set(sessionId, known ? merge(known, state) : state)
  }
  for (const { occurredAt, sessionId } of events) {
    const span = { startedAt: occurredAt, endedAt: occurredAt }
    say(sessionId, { ...span, eventCount: 1, attributes: '{}', attributesAt: null })
  }
  for (const session of sessions) say(session.sessionId, stateOf(session))
  return said
}

function stateOf({ startedAt, endedAt, attributes }: IncomingSession): SessionState {
  const text = JSON.stringify(attributes)
  return { startedAt, endedAt, eventCount: 0, attributes: text, attributesAt: endedAt }
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
 * The attributes with the later end win; with equal ends, the greater text, so that the order does not
 * matter.
 */
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

/** The changes to daily totals in a transaction, collected so that each total is written once. */
export class DailyChanges {
  readonly #events = new Map<string, { trackerId: string; day: Day; name: string; change: number }>()
  readonly #sessions = new Map<string, { trackerId: string; day: Day; change: number }>()

  addEvent(trackerId: string, occurredAt: Instant, name: string): void {
    const day = dayOf(occurredAt)
    const id = `${day}\0${name}\0${trackerId}`
    const known = this.#events.get(id)
    if (known) known.change += 1
    else this.#events.set(id, { trackerId, day, name, change: 1 })
  }

  /** Counts a session, and takes back its earlier count if its start has changed. */
  addSession(trackerId: string, startedAt: Instant, earlierStartedAt: Instant | null): void {
    this.#changeSessions(trackerId, startedAt, 1)
    if (earlierStartedAt !== null) this.#changeSessions(trackerId, earlierStartedAt, -1)
  }

  events() {
    return this.#events.values()
  }

  sessions() {
    return this.#sessions.values()
  }

  #changeSessions(trackerId: string, startedAt: Instant, change: 1 | -1): void {
    const day = dayOf(startedAt)
    const id = `${day}\0${trackerId}`
    const known = this.#sessions.get(id)
    if (known) known.change += change
    else this.#sessions.set(id, { trackerId, day, change })
  }
}
