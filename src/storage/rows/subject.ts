import type { Attributes, SubjectPosition, SubjectRecord, SubjectSummary } from '../../domain/subject.ts'
import { integer, json, type Row, text } from './row.ts'

export function toRecord(row: Row, summary: SubjectSummary | null): SubjectRecord | null {
  return summary && { ...summary, attributes: json<Attributes>(row, 'attributes') }
}

export function toSummary(row: Row): SubjectSummary {
  return {
    subjectId: text(row, 'subject_id'),
    firstSeenAt: integer(row, 'first_seen_at'),
    lastSeenAt: integer(row, 'last_seen_at'),
    counts: { sessions: integer(row, 'session_count'), events: integer(row, 'event_count') },
  }
}

export const subjectPosition = {
  ofItem: ({ subjectId, lastSeenAt }: SubjectSummary): SubjectPosition => ({ subjectId, lastSeenAt }),
  ofRow: (row: Row): SubjectPosition => subjectPosition.ofItem(toSummary(row)),
}
