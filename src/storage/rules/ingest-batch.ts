import { type Day, dayOf } from '../../domain/daily-total.ts'
import type { IncomingEvent, IncomingRow, IncomingSession, IngestResult } from '../../domain/ingest.ts'
import type { Instant } from '../../domain/instant.ts'
import { subjectKey } from '../../domain/subject.ts'
import type { BroughtIdentifier } from '../../domain/subject-identifier.ts'

// What a batch means for what is stored is the same on every engine; how it gets there is each engine's own.

/** What a session is known to be: in the store, or as a batch speaks of it. */
export interface SessionState {
  startedAt: Instant
  endedAt: Instant
  eventCount: number
  attributes: string
  attributesAt: Instant | null
}

/** What a batch changes in a subject's own row. Where it brings identifiers alone, no instants at which it was seen. */
export interface SubjectChange {
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
export interface SubjectBatch {
  /** Which of the batch's subjects it is, from 0, by their first rows. */
  number: number
  key: Buffer
  trackerId: string
  subjectId: string
  sessions: IncomingSession[]
  events: IncomingEvent[]
}

/** Tells subjects of a batch apart. */
export const nameOf = ({ trackerId, subjectId }: { trackerId: string; subjectId: string }) =>
  `${trackerId}\0${subjectId}`

/** The batch by subject, in the order of their keys, so that writing walks through the tables once. */
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

/** The subjects of trackers that are there, and how many rows of others are left out. */
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

/** What is left of subjects when rows are left out that happened before an erasure, and how many those are. */
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

/** Where a subject's sessions are looked up and put. */
export interface SessionLookup {
  find(sessionId: string): SessionState | null
  put(sessionId: string, stored: SessionState | null, state: SessionState): void
}

/**
 * Puts the sessions that a batch changes, and hands back what the subject's row must be told; `null` when nothing is new.
 * `newEvents` are those of the batch that were not stored before. Rows that were may still have brought identifiers.
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
  }
  for (const [sessionId, state] of sessionsInBatch(newEvents, sessions)) {
    const stored = lookup.find(sessionId)
    const merged = stored ? merge(stored, state) : state
    if (stored && isSame(stored, merged)) continue
    lookup.put(sessionId, stored, merged)
    if (!stored) change.sessions += 1
    change.firstSeenAt = Math.min(change.firstSeenAt, merged.startedAt)
    change.lastSeenAt = Math.max(change.lastSeenAt, merged.endedAt)
    change.oldestAt = Math.min(change.oldestAt, state.eventCount > 0 ? state.startedAt : merged.endedAt)
  }
  for (const { broughtAt } of identifiers) change.oldestAt = Math.min(change.oldestAt, broughtAt)
  return change.oldestAt === Number.POSITIVE_INFINITY ? null : change
}

/** What events and sessions of a batch say of each session. */
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
  for (const { sessionId, startedAt, endedAt, attributes } of sessions) {
    const text = JSON.stringify(attributes)
    say(sessionId, { startedAt, endedAt, eventCount: 0, attributes: text, attributesAt: endedAt })
  }
  return said
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

/** The changes that a transaction makes to daily totals, gathered so that each total is written once. */
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

  /** Counts a session, which may have been counted with another start before. */
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
