import type { IncomingEvent, IncomingSession } from '../../src/domain/ingest.ts'
import { type Instant, parseInstant } from '../../src/domain/instant.ts'

/** Parses an instant. */
export function at(text: string): Instant {
  const instant = parseInstant(text)
  if (instant === null) throw new Error(`"${text}" is not an instant.`)
  return instant
}

/** The start of a view from which nothing has aged out. */
export const always: Instant = Number.MIN_SAFE_INTEGER

export function sessionRow(
  row: Partial<IncomingSession> & { subjectId: string; sessionId: string },
): IncomingSession {
  const startedAt = row.startedAt ?? at('2026-11-01T10:00:00.000Z')
  return { type: 'session', trackerId: 'shop', startedAt, endedAt: startedAt, attributes: {}, ...row }
}

export function eventRow(
  row: Partial<IncomingEvent> & { subjectId: string; eventId: string },
): IncomingEvent {
  return {
    type: 'event',
    trackerId: 'shop',
    sessionId: 'session',
    name: 'pageview',
    occurredAt: at('2026-11-01T10:00:00.000Z'),
    properties: {},
    ...row,
  }
}
