import type { Attributes } from '../../domain/session.ts'
import type { SubjectPosition, SubjectRecord, SubjectSummary } from '../../domain/subject.ts'
import { toIdentifiers } from './identifier.ts'
import { asInteger, asJson, asText, type Values } from './row.ts'

/** What a summary is made of; `toSummary` takes their values in this order. */
export const summaryColumns = 'subject_id, first_seen_at, last_seen_at, session_count, event_count'

export function toSummary([subjectId, firstSeenAt, lastSeenAt, sessions, events]: Values): SubjectSummary {
  return {
    subjectId: asText(subjectId, 'subject_id'),
    firstSeenAt: asInteger(firstSeenAt, 'first_seen_at'),
    lastSeenAt: asInteger(lastSeenAt, 'last_seen_at'),
    counts: { sessions: asInteger(sessions, 'session_count'), events: asInteger(events, 'event_count') },
  }
}

export function toRecord(summary: SubjectSummary, attributes: unknown, identifiers: unknown): SubjectRecord {
  const { subjectId, firstSeenAt, lastSeenAt, counts } = summary
  return {
    subjectId,
    firstSeenAt,
    lastSeenAt,
    counts,
    identifiers: toIdentifiers(identifiers),
    attributes: asJson<Attributes>(attributes, 'attributes'),
  }
}

export const subjectPosition = {
  ofItem: ({ subjectId, lastSeenAt }: SubjectSummary): SubjectPosition => ({ subjectId, lastSeenAt }),
  ofRow: (values: Values): SubjectPosition => subjectPosition.ofItem(toSummary(values)),
}
