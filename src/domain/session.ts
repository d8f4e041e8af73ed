import type { Instant } from './instant.ts'
import type { MaybePromise } from './maybe-promise.ts'
import type { Page } from './page.ts'
import type { Attributes } from './subject.ts'
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
