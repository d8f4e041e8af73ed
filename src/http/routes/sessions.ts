import { formatInstant } from '../../domain/instant.ts'
import { listSessions, planSessionList } from '../../operations/list-sessions.ts'
import { defineRoute } from '../route.ts'
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
  async run(services, { organisationId }, { trackerId, subjectId }, query) {
    const page = await listSessions(services, { organisationId, trackerId }, subjectId, query)
    const sessions = page.sessions.map((session) => ({
      ...session,
      startedAt: formatInstant(session.startedAt),
      endedAt: formatInstant(session.endedAt),
    }))
    return { sessions, nextCursor: page.nextCursor }
  },
})
