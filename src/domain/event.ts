import type { Instant } from './instant.ts'
import type { MaybePromise } from './maybe-promise.ts'
import type { Page } from './page.ts'
import type { Attributes } from './subject.ts'
import type { TrackerView } from './tracker.ts'

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
