import type { IncomingEvent } from '../../domain/ingest.ts'
import type { Instant } from '../../domain/instant.ts'

/**
 * With so few events a subject's are looked through for those of one session. With more, they are found by the span of the session as
 * long as no other session overlaps any; from then on the subject is interleaved for good, and all its events stand in an index.
 */
export const maxPlainEvents = 1_000

/** A session that a batch has changed. */
export interface SessionSpan {
  sessionId: string
  startedAt: Instant
  endedAt: Instant
}

/** What a batch did to a subject, as far as it may have become interleaved. */
export interface SubjectGrowth {
  /** How many events it had, and has. */
  before: number
  after: number
  sessions: readonly SessionSpan[]
  newEvents: readonly IncomingEvent[]
}

// While sessions come one after the other, each in the order of their starts ends before the next one starts. So one that has changed
// need only be held against its two neighbours.

/** Whether two sessions of a subject overlap. `key` is its place in the statement. */
export function anyOverlap(key: string): string {
  return `EXISTS (SELECT 1 FROM sessions a JOIN sessions b ON b.subject_key = a.subject_key AND b.session_id <> a.session_id
    AND b.started_at >= a.started_at AND b.started_at <= a.ended_at WHERE a.subject_key = ${key})`
}

/** Whether a session overlaps the one before or the one behind it. */
export function overlapsNeighbour(key: string, id: string, startedAt: string, endedAt: string): string {
  return `(EXISTS (SELECT 1 FROM sessions b WHERE b.subject_key = ${key}
      AND b.started_at >= ${startedAt} AND b.started_at <= ${endedAt} AND b.session_id <> ${id})
    OR coalesce((SELECT p.ended_at FROM sessions p WHERE p.subject_key = ${key} AND p.started_at < ${startedAt}
      ORDER BY p.started_at DESC, p.session_id DESC LIMIT 1) >= ${startedAt}, false))`
}
