import type { Attributes, Session, SessionPosition } from '../../domain/session.ts'
import type { ExportedSession } from '../../domain/subject-export.ts'
import { asInteger, asJson, asText, type Values } from './row.ts'

/** What a session is made of; `toSession` takes their values in this order. */
export const sessionColumns = sessionColumnsWith('attributes')

/** The same, with the attributes given by an expression. */
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

/** The same on its way out: what was collected stays the text that it is. */
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
