import type { DatabaseSync } from 'node:sqlite'
import { integer } from '../nouns/row.ts'
import type { SubjectBatch } from '../rules/ingest-batch.ts'
import { anyOverlap, maxPlainEvents, overlapsNeighbour } from '../rules/interleaving.ts'

/**
 * Maintains the index by session of interleaved subjects. Call it for every subject with many events that a
 * batch has changed, after the batch is stored.
 */
export function interleavingWriting(
  db: DatabaseSync,
): (subject: SubjectBatch, before: number, isInterleaved: boolean) => void {
  const hasOverlap = db.prepare(`SELECT ${anyOverlap('?1')} AS found`)
  const span = db.prepare(
    'SELECT started_at, ended_at FROM sessions WHERE subject_key = ? AND session_id = ?',
  )
  const overlaps = db.prepare(`SELECT ${overlapsNeighbour('?1', '?2', '?3', '?4')} AS found`)
  const markSubject = db.prepare(
    'UPDATE subjects SET interleaved = 1 WHERE tracker_id = ? AND subject_id = ?',
  )
  const markEvents = db.prepare('UPDATE events SET interleaved = 1 WHERE subject_key = ?')
  const markEvent = db.prepare(
    'UPDATE events SET interleaved = 1 WHERE subject_key = ? AND occurred_at = ? AND event_id = ?',
  )

  function overlapsAny(key: Uint8Array, sessionIds: ReadonlySet<string>): boolean {
    for (const id of sessionIds) {
      const row = span.get(key, id)
      if (!row) continue
      const [startedAt, endedAt] = [integer(row, 'started_at'), integer(row, 'ended_at')]
      if (overlaps.get(key, id, startedAt, endedAt)?.found === 1) return true
    }
    return false
  }

  return ({ trackerId, subjectId, key, sessions, events }, before, isInterleaved) => {
    if (isInterleaved) {
      for (const { occurredAt, eventId } of events) markEvent.run(key, occurredAt, eventId)
      return
    }
    const becomesSo =
      before <= maxPlainEvents
        ? hasOverlap.get(key)?.found === 1
        : overlapsAny(key, new Set([...sessions, ...events].map(({ sessionId }) => sessionId)))
    if (!becomesSo) return
    markSubject.run(trackerId, subjectId)
    markEvents.run(key)
  }
}
