import type { Instant } from '../../domain/instant.ts'

/**
 * Up to this many events, the events of a session are found by scanning those of the subject. Above it, they
 * are found by the span of the session, as long as the sessions near it, which may overlap it, hold few. Once
 * they hold more, the subject is interleaved for good and its events are indexed by session.
 */
export const maxPlainEvents = 1_000

/** A session that a batch has changed. */
interface SessionSpan {
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
  /** The number of all its sessions after. */
  sessionCount: number
}

// A session overlaps only those that start within its span, or at most the length of the longest session
// before it. What a changed session adds to their spans is seen from there, so others need no check.

/**
 * Whether a session overlaps another, and those near both hold many events. Near are all that may overlap a
 * session which overlaps this one. Conservative, and bounded: very many sessions count as overlapping.
 */
export function isCrowded(
  key: string,
  { id, startedAt, endedAt, longestMs }: Record<'id' | 'startedAt' | 'endedAt' | 'longestMs', string>,
): string {
  const overlaps = `b.session_id <> ${id} AND b.started_at <= ${endedAt} AND b.ended_at >= ${startedAt}`
  return `(SELECT coalesce(sum(counted.events + 1), 0) > ${maxPlainEvents} AND (count(*) > ${maxPlainEvents} OR max(counted.overlaps) = 1)
    FROM (SELECT b.event_count AS events, CASE WHEN ${overlaps} THEN 1 ELSE 0 END AS overlaps FROM sessions b
      WHERE b.subject_key = ${key} AND b.started_at >= ${startedAt} - 2 * ${longestMs} AND b.started_at <= ${endedAt} + ${longestMs}
      LIMIT ${maxPlainEvents + 1}) AS counted)`
}

/**
 * Whether to compare all sessions of a subject in one pass, which is faster than comparing each that a batch
 * has changed with those near it, unless the subject has many more.
 */
export function isOnePassFaster(changed: number, all: number): boolean {
  return changed > 100 && all <= 10 * changed
}

/** Whether any session of a subject is crowded, in one pass over all of them in the order of their starts. */
export function anyCrowded(key: string, longestMs: string): string {
  const reach = `2 * CAST(${longestMs} AS bigint)`
  return `(SELECT coalesce(max(CASE WHEN s.events_near > ${maxPlainEvents}
      AND (s.sessions_near > ${maxPlainEvents} OR s.last_end >= s.started_at OR s.next_start <= s.ended_at) THEN 1 ELSE 0 END), 0) = 1
    FROM (SELECT a.started_at, a.ended_at, sum(a.event_count + 1) OVER near AS events_near, count(*) OVER near AS sessions_near,
        max(a.ended_at) OVER (by_start ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS last_end,
        lead(a.started_at) OVER by_start AS next_start
      FROM sessions a WHERE a.subject_key = ${key}
      WINDOW by_start AS (ORDER BY a.started_at, a.session_id),
        near AS (ORDER BY a.started_at RANGE BETWEEN ${reach} PRECEDING AND ${reach} FOLLOWING)) AS s)`
}

/** The length of the longest session of a subject; at least 1, because 0 says that it is not known. */
export function longestSession(key: string): string {
  return `(SELECT coalesce(max(a.ended_at - a.started_at), 0) + 1 FROM sessions a WHERE a.subject_key = ${key})`
}
