import type { Instant } from './instant.ts'
import type { MaybePromise } from './maybe-promise.ts'
import type { Page } from './page.ts'
import type { TrackerView } from './tracker.ts'

/** A visit of a subject. Its span covers all its events. */
export interface Session {
  sessionId: string
  startedAt: Instant
  endedAt: Instant
  counts: { events: number }
  attributes: Attributes
}

export interface SessionPosition {
  startedAt: Instant
  sessionId: string
}

export interface SessionQuery {
  limit: number
  after: SessionPosition | null
}

export interface SessionStore {
  /** A subject's sessions, newest start first. `null` when the tracker is not visible or the subject holds no data. */
  list(
    tracker: TrackerView,
    subjectId: string,
    query: SessionQuery,
  ): MaybePromise<Page<Session, SessionPosition> | null>
}

/** Something a subject did. Within a subject an event is known by its id together with its instant. */
export interface Event {
  eventId: string
  sessionId: string
  name: string
  occurredAt: Instant
  properties: Attributes
}

export interface EventPosition {
  occurredAt: Instant
  eventId: string
}

export interface EventQuery {
  limit: number
  after: EventPosition | null
  /** Only the events of this session; an unknown one has none. */
  sessionId: string | null
}

export interface EventStore {
  /** A subject's events, newest first. `null` when the tracker is not visible or the subject holds no data. */
  list(
    tracker: TrackerView,
    subjectId: string,
    query: EventQuery,
  ): MaybePromise<Page<Event, EventPosition> | null>
}

/** Free-form facts that were collected with a session or an event. */
export type Attributes = Record<string, unknown>
