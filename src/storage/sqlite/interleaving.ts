import type { DatabaseSync } from 'node:sqlite'
import { integer } from '../nouns/row.ts'
import type { SubjectBatch } from '../rules/ingest-batch.ts'
import {
  anyCrowded,
  isCrowded,
  isOnePassFaster,
  longestSession,
  maxPlainEvents,
} from '../rules/interleaving.ts'

/** A subject's row before a batch. */
export interface KnownSubject {
  sessionCount: number
  eventCount: number
  isInterleaved: boolean
  /** 0 if it is not known. */
  longestSessionMs: number
}

/**
 * Maintains the index by session of interleaved subjects. Call it for every subject with many events that a
 * batch has changed, after the batch is stored.
 */
export function interleavingWriting(
  db: DatabaseSync,
): (subject: SubjectBatch, known: KnownSubject | null) => void {
  const longest = db.prepare(`SELECT ${longestSession('?1')} AS longest`)
  const hasCrowded = db.prepare(`SELECT ${anyCrowded('?1', '?2')} AS found`)
  const span = db.prepare(
    'SELECT started_at, ended_at FROM sessions WHERE subject_key = ? AND session_id = ?',
  )
  const session = { id: '?2', startedAt: '?3', endedAt: '?4', longestMs: '?5' }
  const crowded = db.prepare(`SELECT ${isCrowded('?1', session)} AS found`)
  const setLongest = db.prepare(
    'UPDATE subjects SET longest_session_ms = ? WHERE tracker_id = ? AND subject_id = ?',
  )
  const markSubject = db.prepare(
    'UPDATE subjects SET interleaved = 1 WHERE tracker_id = ? AND subject_id = ?',
  )
  const markEvents = db.prepare('UPDATE events SET interleaved = 1 WHERE subject_key = ?')
  const markEvent = db.prepare(
    'UPDATE events SET interleaved = 1 WHERE subject_key = ? AND occurred_at = ? AND event_id = ?',
  )

  /** The spans of sessions that a batch has changed. */
  function spansOf({ key, sessions, events }: SubjectBatch) {
    const ids = new Set([...sessions, ...events].map(({ sessionId }) => sessionId))
    return Array.from(ids).flatMap((id) => {
      const row = span.get(key, id)
      return row ? [{ id, startedAt: integer(row, 'started_at'), endedAt: integer(row, 'ended_at') }] : []
    })
  }

  /** Compares all sessions of a subject. Returns the length of the longest, `null` if one is crowded. */
  function compareAll({ key }: SubjectBatch): number | null {
    const longestMs = integer(longest.get(key) ?? {}, 'longest')
    return hasCrowded.get(key, longestMs)?.found === 1 ? null : longestMs
  }

  /** Likewise for the sessions that a batch has changed: only what they overlap has become more crowded. */
  function compareChanged(
    subject: SubjectBatch,
    { sessionCount, longestSessionMs }: KnownSubject,
  ): number | null {
    const spans = spansOf(subject)
    if (isOnePassFaster(spans.length, sessionCount)) return compareAll(subject)
    const longestMs = Math.max(
      longestSessionMs,
      ...spans.map(({ startedAt, endedAt }) => endedAt - startedAt + 1),
    )
    const isCrowded = spans.some(
      ({ id, startedAt, endedAt }) =>
        crowded.get(subject.key, id, startedAt, endedAt, longestMs)?.found === 1,
    )
    return isCrowded ? null : longestMs
  }

  return (subject, known) => {
    const { trackerId, subjectId, key, events } = subject
    if (known?.isInterleaved) {
      for (const { occurredAt, eventId } of events) markEvent.run(key, occurredAt, eventId)
      return
    }
    const before = known && known.eventCount > maxPlainEvents ? known.longestSessionMs : 0
    const longestMs = known && before > 0 ? compareChanged(subject, known) : compareAll(subject)
    if (longestMs === null) {
      markSubject.run(trackerId, subjectId)
      markEvents.run(key)
    } else if (longestMs !== before) {
      setLongest.run(longestMs, trackerId, subjectId)
    }
  }
}
