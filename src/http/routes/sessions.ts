import { then } from '../../domain/eventually.ts'
import { formatInstant } from '../../domain/instant.ts'
import type { Session } from '../../domain/session.ts'
import { listSessions, planSessionList } from '../../operations/list-sessions.ts'
import { defineRoute, trackerView } from '../route.ts'
import { sessionListParameters } from '../schemas/parameters.ts'
import { SessionList } from '../schemas/resources.ts'
import { subjectPath } from './subjects.ts'

export const listSessionsRoute = defineRoute({
  operationId: 'listSessions',
  method: 'GET',
  path: `${subjectPath}/sessions`,
  scope: 'analytics:view',
  summary: "List a data subject's sessions",
  description: 'Newest first.',
  query: sessionListParameters,
  data: SessionList,
  example: {
    sessions: [
      {
        sessionId: 's-9f3c',
        startedAt: '2026-11-14T20:58:31.700Z',
        endedAt: '2026-11-14T21:03:55.004Z',
        counts: { events: 6 },
        attributes: { country: 'DE', browser: 'Firefox', os: 'Linux' },
      },
    ],
    nextCursor: null,
  },
  plan: ({ trackerId, subjectId }, query, problems) => planSessionList(trackerId, subjectId, query, problems),
  run: (services, caller, { trackerId, subjectId }, query) =>
    then(
      listSessions(services, trackerView(services, caller, trackerId), subjectId, query),
      ({ sessions, nextCursor }) => ({
        sessions: sessions.map(presentSession),
        nextCursor,
      }),
    ),
})

export function presentSession({ sessionId, startedAt, endedAt, counts, attributes }: Session) {
  const span = { startedAt: formatInstant(startedAt), endedAt: formatInstant(endedAt) }
  return { sessionId, ...span, counts, attributes }
}
