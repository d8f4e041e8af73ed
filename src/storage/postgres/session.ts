import type { EventStore, SessionStore } from '../../domain/session.ts'
import {
  eventColumns,
  eventPosition,
  sessionColumns,
  sessionPosition,
  toEvent,
  toSession,
} from '../nouns/subject.ts'
import { PageBuilder, readPage } from '../rules/page.ts'
import type { Connections } from './connections.ts'
import { subjectKeyText } from './lock-subjects.ts'
import { behindAll, heldBefore, joinedToSubject, readJoined, withinPage } from './subject.ts'

const newestSessions = 'started_at DESC, session_id DESC'
// An expired one is only skipped.
const seenAttributes = `CASE WHEN ended_at < $3 THEN '{}' ELSE attributes END`

const agedEvents = `count(*) FROM events e WHERE e.subject_key = $1 AND e.occurred_at >= s.started_at
  AND e.occurred_at < $3 AND e.session_id = s.session_id`

// A session that started before the window has lost its earlier events.
const listSessions = joinedToSubject(
  (subject) => `SELECT ${sessionColumns} FROM ${subject} LEFT JOIN LATERAL (SELECT * FROM (
     SELECT session_id, started_at, ended_at, ${seenAttributes} AS attributes, ${heldBefore(seenAttributes, newestSessions)},
       CASE WHEN started_at >= $3 OR ended_at < $3 THEN event_count
         WHEN present.interleaved = 1 THEN event_count - (SELECT ${agedEvents} AND e.interleaved = 1)
         ELSE event_count - (SELECT ${agedEvents})
       END AS event_count
     FROM sessions s WHERE subject_key = $1 AND (started_at, session_id) < ($4, $5)
     ORDER BY ${newestSessions} LIMIT $6) x WHERE ${withinPage}) x ON true`,
)

export function sessionStore(connections: Connections): SessionStore {
  return {
    async list(view, subjectId, query) {
      const { trackerId, organisationId, since } = view
      const key = subjectKeyText(trackerId, subjectId)
      return readPage(
        query,
        async (page, after, count) => {
          const { startedAt, sessionId } = after ?? { startedAt: behindAll, sessionId: '' }
          const values = [key, organisationId, since, startedAt, sessionId, count]
          const rows = await readJoined(connections, listSessions, view, values)
          page.addAll(rows ?? [], (row) => {
            const session = toSession(row)
            return session.endedAt < since ? null : session
          })
          return rows
        },
        sessionPosition,
      )
    },
  }
}

const eventRange = 'subject_key = $1 AND occurred_at >= $3 AND (occurred_at, event_id) < ($4, $5)'
const newestEvents = 'occurred_at DESC, event_id DESC'
const heldEvents = heldBefore('properties', newestEvents)

const listEvents = joinedToSubject(
  (subject) => `SELECT ${eventColumns} FROM ${subject} LEFT JOIN LATERAL (SELECT * FROM (
     SELECT ${eventColumns}, ${heldEvents} FROM events WHERE ${eventRange}
     ORDER BY ${newestEvents} LIMIT $6) e WHERE ${withinPage}) e ON true`,
)
// A session's span covers its events: if no other session overlaps it, they are one range.
export const listOfSession = joinedToSubject(
  (subject) => `SELECT ${eventColumns} FROM ${subject} LEFT JOIN LATERAL (SELECT * FROM (
     (SELECT ${eventColumns}, ${heldEvents} FROM events
     WHERE present.interleaved = 1 AND events.interleaved = 1 AND ${eventRange} AND session_id = $7
     ORDER BY ${newestEvents} LIMIT $6)
     UNION ALL
     (SELECT event_id, events.session_id, name, occurred_at, properties, ${heldEvents} FROM sessions JOIN events USING (subject_key)
     WHERE present.interleaved = 0 AND ${eventRange} AND sessions.session_id = $7 AND events.session_id = $7
     AND occurred_at >= started_at AND occurred_at <= ended_at
     ORDER BY ${newestEvents} LIMIT $6)) e WHERE ${withinPage}) e ON true`,
)

export function eventStore(connections: Connections): EventStore {
  return {
    async list(view, subjectId, { limit, after, sessionId }) {
      const { trackerId, organisationId, since } = view
      const { occurredAt, eventId } = after ?? { occurredAt: behindAll, eventId: '' }
      const key = subjectKeyText(trackerId, subjectId)
      const values = [key, organisationId, since, occurredAt, eventId, limit + 1]
      const rows = await (sessionId === null
        ? readJoined(connections, listEvents, view, values)
        : readJoined(connections, listOfSession, view, [...values, sessionId]))
      if (rows === null) return null
      const page = new PageBuilder(limit, eventPosition)
      page.addAll(rows, toEvent)
      return page.page()
    },
  }
}
