import type { Attributes, Event, EventPosition } from '../../domain/session.ts'
import type { ExportedEvent } from '../../domain/subject-export.ts'
import { asInteger, asJson, asText, type Values } from './row.ts'

/** What an event is made of; `toEvent` takes their values in this order. */
export const eventColumns = eventColumnsWith('properties')

/** The same, with the properties given by an expression. */
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

/** The same on its way out: what was collected stays the text that it is. */
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
