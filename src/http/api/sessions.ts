import { formatInstant } from '../../domain/instant.ts'
import { andThen } from '../../domain/maybe-promise.ts'
import type { Session as StoredSession } from '../../domain/session.ts'
import { listSessions, planSessionList } from '../../operations/subject.ts'
import { defineRoute, trackerView } from '../route.ts'
import { count, object } from '../schema.ts'
import { exampleSessions, exampleSubjectParameters } from './examples.ts'
import { freeForm, id, instant, nextCursor, page, pageParameters } from './fields.ts'
import { subjectPath } from './subjects.ts'

export const sessionListParameters = pageParameters

export const Session = object(
  {
    sessionId: id(),
    startedAt: instant('When the session started.'),
    endedAt: instant('When the session ended, as far as is known.'),
    counts: object({ events: count('The number of events.') }),
    attributes: freeForm('The data collected with the session.'),
  },
  { title: 'Session' },
)

const SessionList = object({ sessions: page(Session), nextCursor }, { title: 'SessionList' })

export const listSessionsRoute = defineRoute({
  method: 'GET',
  path: `${subjectPath}/sessions`,
  access: 'analytics:view',
  query: sessionListParameters,
  response: SessionList,
  documentation: {
    operationId: 'listSessions',
    summary: "List a data subject's sessions",
    description: 'Newest first.',
    exampleParameters: { ...exampleSubjectParameters, limit: 1 },
    exampleAlone: { cursor: 'BAwV8hyrBf1VWzE3OTIyNzM4NDUwODgsInZpc2l0b3ItNjE5MjAwNjEtMiJd' },
    example: {
      sessions: exampleSessions.slice(-1),
      nextCursor: 'BAwV8hyrBf1VWzE3OTIyNzM4NDUwODgsInZpc2l0b3ItNjE5MjAwNjEtMiJd',
    },
  },
  plan: ({ path, query }, problems) => planSessionList(path.trackerId, path.subjectId, query, problems),
  handle(call) {
    const { trackerId, subjectId } = call.path
    return andThen(
      listSessions(call.services, trackerView(call, trackerId), subjectId, call.plan),
      ({ sessions, nextCursor }) => ({ sessions: sessions.map(presentSession), nextCursor }),
    )
  },
})

export function presentSession({ sessionId, startedAt, endedAt, counts, attributes }: StoredSession) {
  const span = { startedAt: formatInstant(startedAt), endedAt: formatInstant(endedAt) }
  return { sessionId, ...span, counts, attributes }
}
