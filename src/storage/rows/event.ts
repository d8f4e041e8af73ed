import type { Event, EventPosition } from '../../domain/event.ts'
import type { Attributes } from '../../domain/subject.ts'
import { integer, json, type Row, text } from './row.ts'

export function toEvent(row: Row): Event {
  return {
    eventId: text(row, 'event_id'),
    sessionId: text(row, 'session_id'),
    name: text(row, 'name'),
    occurredAt: integer(row, 'occurred_at'),
    properties: json<Attributes>(row, 'properties'),
  }
}

export function eventPosition({ occurredAt, eventId }: Event): EventPosition {
  return { occurredAt, eventId }
}
