import type { Instant } from './instant.ts'
import type { MaybePromise } from './maybe-promise.ts'
import type { Page } from './page.ts'
import type { TrackerView } from './tracker.ts'

/** A visit of a subject. It spans all its events. */
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
  /** Newest start first. `null` if the tracker is not visible or the subject holds no data. */
  list(
    tracker: TrackerView,
    subjectId: string,
    query: SessionQuery,
  ): MaybePromise<Page<Session, SessionPosition> | null>
}

/** An action of a subject, identified by its ID and instant. */
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
  /** An unknown session has no events. */
  sessionId: string | null
}

export interface EventStore {
  /** Newest first. `null` if the tracker is not visible or the subject holds no data. */
  list(
    tracker: TrackerView,
    subjectId: string,
    query: EventQuery,
  ): MaybePromise<Page<Event, EventPosition> | null>
}

/** Free-form data collected with a session or an event. */
export type Attributes = Record<string, unknown>
