import type { EventStore } from '../../domain/session.ts'
import { eventColumns, eventPosition, toEvent } from '../nouns/event.ts'
import { statement } from '../nouns/statement.ts'
import { PageBuilder } from '../page.ts'
import type { Connections } from './connections.ts'
import { subjectKeyText } from './key-text.ts'
import { behindAll, heldBefore, presentSubject, rowsOf, withinPage } from './present-subject.ts'

const range = 'subject_key = $1 AND occurred_at >= $3 AND (occurred_at, event_id) < ($4, $5)'
const order = 'occurred_at DESC, event_id DESC'
const held = heldBefore('properties', order)

const list = statement(
  `SELECT ${eventColumns} FROM ${presentSubject} LEFT JOIN LATERAL (SELECT * FROM (
     SELECT ${eventColumns}, ${held} FROM events WHERE ${range}
     ORDER BY ${order} LIMIT $6) e WHERE ${withinPage}) e ON true`,
)
// A session's span covers its events: where no other overlaps it, they are one range of the subject's.
export const listOfSession = statement(
  `SELECT ${eventColumns} FROM ${presentSubject} LEFT JOIN LATERAL (SELECT * FROM (
     (SELECT ${eventColumns}, ${held} FROM events
     WHERE present.interleaved = 1 AND events.interleaved = 1 AND ${range} AND session_id = $7
     ORDER BY ${order} LIMIT $6)
     UNION ALL
     (SELECT event_id, events.session_id, name, occurred_at, properties, ${held} FROM sessions JOIN events USING (subject_key)
     WHERE present.interleaved = 0 AND ${range} AND sessions.session_id = $7 AND events.session_id = $7
     AND occurred_at >= started_at AND occurred_at <= ended_at
     ORDER BY ${order} LIMIT $6)) e WHERE ${withinPage}) e ON true`,
)

export function eventStore(connections: Connections): EventStore {
  return {
    async list({ trackerId, organisationId, since }, subjectId, { limit, after, sessionId }) {
      const { occurredAt, eventId } = after ?? { occurredAt: behindAll, eventId: '' }
      const key = subjectKeyText(trackerId, subjectId)
      const values = [key, organisationId, since, occurredAt, eventId, limit + 1]
      const joined = await (sessionId === null
        ? connections.readValues(list, values)
        : connections.readValues(listOfSession, [...values, sessionId]))
      const rows = rowsOf(joined)
      if (rows === null) return null
      const page = new PageBuilder(limit, eventPosition)
      page.addAll(rows, toEvent)
      return page.page()
    },
  }
}
