import type { DatabaseSync } from 'node:sqlite'
import { anyOverlap, maxPlainEvents, overlapsNeighbour, type SubjectGrowth } from '../interleaving.ts'

interface GrownSubject extends SubjectGrowth {
  trackerId: string
  subjectId: string
  key: Uint8Array
  isInterleaved: boolean
}

/** Keeps the index by session of subjects that are interleaved. To be told of every subject that a batch has changed. */
export function interleavingWriting(db: DatabaseSync): (subject: GrownSubject) => void {
  const hasOverlap = db.prepare(`SELECT ${anyOverlap('?1')} AS found`)
  const overlaps = db.prepare(`SELECT ${overlapsNeighbour('?1', '?2', '?3', '?4')} AS found`)
  const markSubject = db.prepare(
    'UPDATE subjects SET interleaved = 1 WHERE tracker_id = ? AND subject_id = ?',
  )
  const markEvents = db.prepare('UPDATE events SET interleaved = 1 WHERE subject_key = ?')
  const markEvent = db.prepare(
    'UPDATE events SET interleaved = 1 WHERE subject_key = ? AND occurred_at = ? AND event_id = ?',
  )

  return ({ trackerId, subjectId, key, before, after, sessions, newEvents, isInterleaved }) => {
    if (after <= maxPlainEvents) return
    if (isInterleaved) {
      for (const { occurredAt, eventId } of newEvents) markEvent.run(key, occurredAt, eventId)
      return
    }
    const becomesSo =
      before <= maxPlainEvents
        ? hasOverlap.get(key)?.found === 1
        : sessions.some(
            ({ sessionId, startedAt, endedAt }) =>
              overlaps.get(key, sessionId, startedAt, endedAt)?.found === 1,
          )
    if (!becomesSo) return
    markSubject.run(trackerId, subjectId)
    markEvents.run(key)
  }
}
