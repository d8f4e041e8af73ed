import { formatInstant } from '../../domain/instant.ts'
import { Problems } from '../../domain/problems.ts'
import { presentEvent } from '../../http/routes/events.ts'
import { presentSession } from '../../http/routes/sessions.ts'
import { presentSummary } from '../../http/routes/subjects.ts'
import {
  eventListParameters,
  sessionListParameters,
  subjectListParameters,
} from '../../http/schemas/parameters.ts'
import { copySubject } from '../../operations/copy-subject.ts'
import { eraseSubject } from '../../operations/erase-subject.ts'
import { listEvents, planEventList } from '../../operations/list-events.ts'
import { listSessions, planSessionList } from '../../operations/list-sessions.ts'
import { listSubjects, planSubjectList } from '../../operations/list-subjects.ts'
import { readSubject } from '../../operations/read-subject.ts'
import { memberRoute } from '../console-route.ts'
import { typed } from '../schemas.ts'
import { sendCopy } from '../send-copy.ts'

const listPath = '/console/api/trackers/{trackerId}/subjects'
const subjectPath = `${listPath}/{subjectId}`

export const subjectRoutes = [
  memberRoute({
    method: 'GET',
    path: listPath,
    query: subjectListParameters,
    async run({ services, tracker, query, problems }) {
      const plan = planSubjectList(tracker.trackerId, query, problems)
      problems.throwIfAny()
      const { subjects, nextCursor } = await listSubjects(services, tracker, plan)
      return { subjects: subjects.map(presentSummary), nextCursor }
    },
  }),
  memberRoute({
    method: 'GET',
    path: subjectPath,
    async run({ services, tracker, path }) {
      const record = await readSubject(services, tracker, path.subjectId)
      return { trackerId: tracker.trackerId, ...presentSummary(record), attributes: record.attributes }
    },
  }),
  memberRoute({
    method: 'GET',
    path: `${subjectPath}/sessions`,
    query: sessionListParameters,
    async run({ services, tracker, path, query, problems }) {
      const plan = planSessionList(tracker.trackerId, path.subjectId, query, problems)
      problems.throwIfAny()
      const { sessions, nextCursor } = await listSessions(services, tracker, path.subjectId, plan)
      return { sessions: sessions.map(presentSession), nextCursor }
    },
  }),
  memberRoute({
    method: 'GET',
    path: `${subjectPath}/events`,
    query: eventListParameters,
    async run({ services, tracker, path, query, problems }) {
      const plan = planEventList(tracker.trackerId, path.subjectId, query, problems)
      problems.throwIfAny()
      const { events, nextCursor } = await listEvents(services, tracker, path.subjectId, plan)
      return { events: events.map(presentEvent), nextCursor }
    },
  }),
  memberRoute({
    method: 'GET',
    path: `${subjectPath}/copy`,
    run: async ({ visit, services, tracker, path, origin }) =>
      sendCopy(visit, tracker.trackerId, await copySubject(services, tracker, path.subjectId, origin)),
  }),
  memberRoute({
    method: 'POST',
    path: `${subjectPath}/erase`,
    body: { subjectId: typed },
    async run({ services, tracker, path, body, origin }) {
      requireTyped(path.subjectId, body.subjectId)
      const { erasedAt, ...erasure } = await eraseSubject(services, tracker, path.subjectId, origin)
      return { ...erasure, erasedAt: formatInstant(erasedAt) }
    },
  }),
]

/** An erasure cannot be undone: whoever asks for it has typed whom it is about. */
function requireTyped(subjectId: string, typedId: string): void {
  const problems = new Problems()
  if (typedId !== subjectId)
    problems.add('subjectId', 'the id typed is not that of this data subject; nothing was erased')
  problems.throwIfAny()
}
