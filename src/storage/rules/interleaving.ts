import type { Instant } from '../../domain/instant.ts'
import type { BatchEvent } from './ingest-batch.ts'

/**
 * Up to this many events, the events of a session are found by scanning those of the subject. Above it, they
 * are found by the span of the session, as long as no sessions overlap; once they do, the subject is
 * interleaved for good and its events are indexed by session.
 */
export const maxPlainEvents = 1_000

/** A session that a batch has changed. */
export interface SessionSpan {
  sessionId: string
  startedAt: Instant
  endedAt: Instant
}

/** What a batch did to a subject, as far as interleaving is concerned. */
export interface SubjectGrowth {
  /** The number of events before and after. */
  before: number
  after: number
  sessions: readonly SessionSpan[]
  newEvents: readonly BatchEvent[]
}

// As long as sessions do not overlap, each ends before the next one starts. So a changed session only needs
// to be compared with its two neighbours.

/** Whether two sessions of a subject overlap. `key` is the parameter for its key. */
export function anyOverlap(key: string): string {
  return `EXISTS (SELECT 1 FROM sessions a JOIN sessions b ON b.subject_key = a.subject_key AND b.session_id <> a.session_id
    AND b.started_at >= a.started_at AND b.started_at <= a.ended_at WHERE a.subject_key = ${key})`
}

/** Whether a session overlaps the one before or after it. */
export function overlapsNeighbour(key: string, id: string, startedAt: string, endedAt: string): string {
  return `(EXISTS (SELECT 1 FROM sessions b WHERE b.subject_key = ${key}
      AND b.started_at >= ${startedAt} AND b.started_at <= ${endedAt} AND b.session_id <> ${id})
    OR coalesce((SELECT p.ended_at FROM sessions p WHERE p.subject_key = ${key} AND p.started_at < ${startedAt}
      ORDER BY p.started_at DESC, p.session_id DESC LIMIT 1) >= ${startedAt}, false))`
}
