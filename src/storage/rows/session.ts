import type { Session, SessionPosition } from '../../domain/session.ts'
import type { Attributes } from '../../domain/subject.ts'
import { integer, json, type Row, text } from './row.ts'

export function toSession(row: Row): Session {
  return {
    sessionId: text(row, 'session_id'),
    startedAt: integer(row, 'started_at'),
    endedAt: integer(row, 'ended_at'),
    counts: { events: integer(row, 'event_count') },
    attributes: json<Attributes>(row, 'attributes'),
  }
}

export const sessionPosition = {
  ofItem: ({ startedAt, sessionId }: Session): SessionPosition => ({ startedAt, sessionId }),
  ofRow: (row: Row): SessionPosition => sessionPosition.ofItem(toSession(row)),
}
