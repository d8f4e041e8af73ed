import type { DatabaseSync } from 'node:sqlite'
import { type SubjectSummary, subjectKey } from '../../domain/subject.ts'
import type { TrackerView } from '../../domain/tracker.ts'
import { asInteger, integer, type Values } from '../nouns/row.ts'
import { toSummary } from '../nouns/subject.ts'

/** What stands behind the columns of a summary. */
export const oldestAt = ([, , , , , oldest]: Values) => asInteger(oldest, 'oldest_at')

/**
 * Sees subjects of which something has aged out as if it were swept already: `null` when all of it has. To be used within a
 * snapshot.
 */
export function ageing(db: DatabaseSync) {
  const agedEvents = db.prepare(
    'SELECT count(*) AS count FROM events WHERE subject_key = ? AND occurred_at < ?',
  )
  const agedSessions = db.prepare(
    'SELECT count(*) AS count FROM sessions WHERE subject_key = ?1 AND started_at < ?2 AND ended_at < ?2',
  )
  const firstSeen = db.prepare(
    'SELECT started_at FROM sessions WHERE subject_key = ? AND ended_at >= ? ORDER BY started_at LIMIT 1',
  )
  return ({ trackerId, since }: Pick<TrackerView, 'trackerId' | 'since'>) =>
    (row: Values): SubjectSummary | null => {
      const stored = toSummary(row)
      if (stored.lastSeenAt < since) return null
      if (oldestAt(row) >= since) return stored
      const key = subjectKey(trackerId, stored.subjectId)
      return {
        ...stored,
        firstSeenAt: integer(firstSeen.get(key, since) ?? {}, 'started_at'),
        counts: {
          sessions: stored.counts.sessions - Number(agedSessions.get(key, since)?.count),
          events: stored.counts.events - Number(agedEvents.get(key, since)?.count),
        },
      }
    }
}
