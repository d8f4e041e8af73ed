import type { SessionStore } from '../../domain/session.ts'
import { sessionColumns, sessionPosition, toSession } from '../nouns/session.ts'
import { statement } from '../nouns/statement.ts'
import { readPage } from '../page.ts'
import type { Connections } from './connections.ts'
import { subjectKeyText } from './key-text.ts'
import { behindAll, heldBefore, presentSubject, rowsOf, withinPage } from './present-subject.ts'

const order = 'started_at DESC, session_id DESC'
// One that has aged out is only passed over.
const seenAttributes = `CASE WHEN ended_at < $3 THEN '{}' ELSE attributes END`

const agedEvents = `count(*) FROM events e WHERE e.subject_key = $1 AND e.occurred_at >= s.started_at
  AND e.occurred_at < $3 AND e.session_id = s.session_id`

// A session that reaches over the edge of the window has lost the events before it.
const list = statement(
  `SELECT ${sessionColumns} FROM ${presentSubject} LEFT JOIN LATERAL (SELECT * FROM (
     SELECT session_id, started_at, ended_at, ${seenAttributes} AS attributes, ${heldBefore(seenAttributes, order)},
       CASE WHEN started_at >= $3 OR ended_at < $3 THEN event_count
         WHEN present.interleaved = 1 THEN event_count - (SELECT ${agedEvents} AND e.interleaved = 1)
         ELSE event_count - (SELECT ${agedEvents})
       END AS event_count
     FROM sessions s WHERE subject_key = $1 AND (started_at, session_id) < ($4, $5)
     ORDER BY ${order} LIMIT $6) x WHERE ${withinPage}) x ON true`,
)

export function sessionStore(connections: Connections): SessionStore {
  return {
    async list({ trackerId, organisationId, since }, subjectId, query) {
      const key = subjectKeyText(trackerId, subjectId)
      return readPage(
        query,
        async (page, after, count) => {
          const { startedAt, sessionId } = after ?? { startedAt: behindAll, sessionId: '' }
          const values = [key, organisationId, since, startedAt, sessionId, count]
          const rows = rowsOf(await connections.readValues(list, values))
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
