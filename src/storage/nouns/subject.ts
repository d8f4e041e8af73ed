import type { Attributes, Event, EventPosition, Session, SessionPosition } from '../../domain/session.ts'
import type { SubjectPosition, SubjectRecord, SubjectSummary } from '../../domain/subject.ts'
import type { ExportedEvent, ExportedSession } from '../../domain/subject-export.ts'
import { type SubjectIdentifier, sortIdentifiers } from '../../domain/subject-identifier.ts'
import type { SearchStore } from '../../domain/subject-search.ts'
import type { Engine } from './engine.ts'
import { asInteger, asJson, asText, text, type Values } from './row.ts'
import { statement } from './statement.ts'

const identifierNames = statement(
  'SELECT name FROM identifier_names WHERE organisation_id = :organisationId ORDER BY name LIMIT :atMost',
)

/** The names of all identifiers of an organisation. */
export function identifierNameStore(engine: Engine): Pick<SearchStore, 'identifierNames'> {
  return {
    identifierNames: async (organisationId, atMost) =>
      (await engine.read(identifierNames, { organisationId, atMost })).map((row) => text(row, 'name')),
  }
}

/** The columns of a summary, in the order that `toSummary` expects. */
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

/** Identifiers from the JSON that an engine builds: an array of pairs of name and value, in any order. */
function toIdentifiers(value: unknown): SubjectIdentifier[] {
  if (value === '[]') return []
  const pairs = asJson<[name: string, value: string][]>(value, 'identifiers')
  return sortIdentifiers(pairs.map(([name, value]) => ({ name, value })))
}

/** The columns of a session, in the order that `toSession` expects. */
export const sessionColumns = sessionColumnsWith('attributes')

/** Like `sessionColumns`, with an expression for the attributes. */
export function sessionColumnsWith(attributes: string): string {
  return `session_id, started_at, ended_at, event_count, ${attributes}`
}

export function toSession([sessionId, startedAt, endedAt, events, attributes]: Values): Session {
  return {
    sessionId: asText(sessionId, 'session_id'),
    startedAt: asInteger(startedAt, 'started_at'),
    endedAt: asInteger(endedAt, 'ended_at'),
    counts: { events: asInteger(events, 'event_count') },
    attributes: asJson<Attributes>(attributes, 'attributes'),
  }
}

/** Like `toSession`, for exports: attributes stay JSON text. */
export function toExportedSession([
  sessionId,
  startedAt,
  endedAt,
  events,
  attributes,
]: Values): ExportedSession {
  return {
    sessionId: asText(sessionId, 'session_id'),
    startedAt: asInteger(startedAt, 'started_at'),
    endedAt: asInteger(endedAt, 'ended_at'),
    counts: { events: asInteger(events, 'event_count') },
    attributes: asText(attributes, 'attributes'),
  }
}

export const sessionPosition = {
  ofItem: ({ startedAt, sessionId }: Session): SessionPosition => ({ startedAt, sessionId }),
  ofRow: ([sessionId, startedAt]: Values): SessionPosition => ({
    startedAt: asInteger(startedAt, 'started_at'),
    sessionId: asText(sessionId, 'session_id'),
  }),
}

/** The columns of an event, in the order that `toEvent` expects. */
export const eventColumns = eventColumnsWith('properties')

/** Like `eventColumns`, with an expression for the properties. */
export function eventColumnsWith(properties: string): string {
  return `event_id, session_id, name, occurred_at, ${properties}`
}

export function toEvent([eventId, sessionId, name, occurredAt, properties]: Values): Event {
  return {
    eventId: asText(eventId, 'event_id'),
    sessionId: asText(sessionId, 'session_id'),
    name: asText(name, 'name'),
    occurredAt: asInteger(occurredAt, 'occurred_at'),
    properties: asJson<Attributes>(properties, 'properties'),
  }
}

/** Like `toEvent`, for exports: properties stay JSON text. */
export function toExportedEvent([eventId, sessionId, name, occurredAt, properties]: Values): ExportedEvent {
  return {
    eventId: asText(eventId, 'event_id'),
    sessionId: asText(sessionId, 'session_id'),
    name: asText(name, 'name'),
    occurredAt: asInteger(occurredAt, 'occurred_at'),
    properties: asText(properties, 'properties'),
  }
}

export function eventPosition({ occurredAt, eventId }: Event): EventPosition {
  return { occurredAt, eventId }
}
