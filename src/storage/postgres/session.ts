import type { SessionStore } from '../../domain/session.ts'
import { readPage, toStretch } from '../page.ts'
import { sessionColumns, sessionPosition, toSession } from '../rows/session.ts'
import type { Connections } from './connections.ts'
import { subjectKeyText } from './key-text.ts'
import { behindAll, presentSubject, rowsOf } from './present-subject.ts'
import { statement } from './statement.ts'

// A session that reaches over the edge of the window has lost the events before it.
const list = statement(
  `SELECT ${sessionColumns} FROM ${presentSubject} LEFT JOIN LATERAL (
     SELECT session_id, started_at, ended_at, attributes,
       CASE WHEN started_at >= $3 OR ended_at < $3 THEN event_count
         ELSE event_count - (SELECT count(*) FROM events e WHERE e.subject_key = $1 AND e.occurred_at >= s.started_at
                             AND e.occurred_at < $3 AND e.session_id = s.session_id)
       END AS event_count
     FROM sessions s WHERE subject_key = $1 AND (started_at, session_id) < ($4, $5)
     ORDER BY started_at DESC, session_id DESC LIMIT $6) x ON true`,
)

export function sessionStore(connections: Connections): SessionStore {
  return {
    async list({ trackerId, organisationId, since }, subjectId, query) {
      const key = subjectKeyText(trackerId, subjectId)
      return readPage(
        query,
        async (after, count) => {
          const { startedAt, sessionId } = after ?? { startedAt: behindAll, sessionId: '' }
          const values = [key, organisationId, since, startedAt, sessionId, count]
          const rows = rowsOf(await connections.readValues(list, values))
          return (
            rows &&
            toStretch(rows, count, (row) => {
              const session = toSession(row)
              return session.endedAt < since ? null : session
            })
          )
        },
        sessionPosition,
      )
    },
  }
}
