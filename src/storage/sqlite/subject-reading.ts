import type { DatabaseSync } from 'node:sqlite'
import type { SubjectStore } from '../../domain/subject.ts'
import { summaryColumns, toRecord, toSummary } from '../nouns/subject.ts'
import { snapshot } from './connection.ts'
import { identifiersAsSeen } from './identifier.ts'
import { ageing, oldestAt } from './subject-ageing.ts'
import { prepareValues } from './values-statement.ts'

/** Reads the record of a subject, through whichever connection. */
export function subjectReading(reader: DatabaseSync): SubjectStore['read'] {
  const read = prepareValues(
    reader,
    `SELECT ${summaryColumns}, oldest_at, (SELECT attributes FROM sessions
                         WHERE sessions.subject_key = subjects.subject_key AND ended_at >= ?1
                         ORDER BY started_at DESC, session_id DESC LIMIT 1) AS attributes,
       ${identifiersAsSeen('?1', 'subjects.subject_key')} AS identifiers
     FROM subjects WHERE tracker_id = ?2 AND subject_id = ?3 AND last_seen_at >= ?1
     AND EXISTS (SELECT 1 FROM trackers WHERE id = tracker_id AND organisation_id = ?4 AND deleted_at IS NULL)`,
  )
  const withoutAged = ageing(reader)

  return (view, subjectId) => {
    const find = () => read.get(view.since, view.trackerId, subjectId, view.organisationId)
    const row = find()
    if (!row) return null
    return oldestAt(row) >= view.since
      ? toRecord(toSummary(row), row[6], row[7])
      : snapshot(reader, () => {
          const row = find()
          const seen = row && withoutAged(view)(row)
          return seen && toRecord(seen, row[6], row[7])
        })
  }
}
