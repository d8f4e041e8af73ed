import type { Origin } from '../../domain/activity.ts'
import { then } from '../../domain/eventually.ts'
import { formatInstant } from '../../domain/instant.ts'
import type { SubjectSummary } from '../../domain/subject.ts'
import { eraseSubject } from '../../operations/erase-subject.ts'
import { listSubjects, planSubjectList } from '../../operations/list-subjects.ts'
import { readSubject } from '../../operations/read-subject.ts'
import { defineRoute, trackerView } from '../route.ts'
import { subjectListParameters } from '../schemas/parameters.ts'
import { Erasure, Subject, SubjectList, type SubjectSummaryBody } from '../schemas/resources.ts'

const listPath = '/v1/analytics/trackers/{trackerId}/subjects'
export const subjectPath = `${listPath}/{subjectId}`

const exampleSummary = {
  subjectId: 'visitor-4711',
  firstSeenAt: '2026-06-02T08:14:09.120Z',
  lastSeenAt: '2026-11-14T21:03:55.004Z',
  counts: { sessions: 3, events: 17 },
}

export const listSubjectsRoute = defineRoute({
  operationId: 'listSubjects',
  method: 'GET',
  path: listPath,
  scope: 'analytics:view',
  summary: 'List the data subjects of a tracker',
  description:
    'A page costs the same wherever it lies and however large the tracker is. An empty tracker gives an empty list.',
  query: subjectListParameters,
  data: SubjectList,
  example: { subjects: [exampleSummary], nextCursor: 'vh2GQVSpQ8mXWzE3NjMxNTQyMzUwMDQsInZpc2l0b3ItNDcxMSJd' },
  plan: ({ trackerId }, query, problems) => planSubjectList(trackerId, query, problems),
  run: (services, caller, { trackerId }, query) =>
    then(
      listSubjects(services, trackerView(services, caller, trackerId), query),
      ({ subjects, nextCursor }) => ({
        subjects: subjects.map(presentSummary),
        nextCursor,
      }),
    ),
})

export const readSubjectRoute = defineRoute({
  operationId: 'readSubject',
  method: 'GET',
  path: subjectPath,
  scope: 'analytics:view',
  summary: 'Read what is stored about a data subject',
  description:
    'The complete copy is this record with all its sessions and events. A subject whose data has aged out or was erased is not found.',
  query: {},
  data: Subject,
  example: {
    trackerId: 'shop',
    ...exampleSummary,
    attributes: { country: 'DE', browser: 'Firefox', os: 'Linux' },
  },
  plan: () => null,
  run: (services, caller, { trackerId, subjectId }) =>
    then(readSubject(services, trackerView(services, caller, trackerId), subjectId), (record) => ({
      trackerId,
      ...presentSummary(record),
      attributes: record.attributes,
    })),
})

export const eraseSubjectRoute = defineRoute({
  operationId: 'eraseSubject',
  method: 'DELETE',
  path: subjectPath,
  scope: 'analytics:delete-data',
  isErasure: true,
  summary: 'Erase a data subject, for good',
  description:
    'Deletes everything stored about the subject in one transaction and tells what this request deleted. It cannot be undone. Safe to repeat: a subject that holds no data gives zero counts and `alreadyErased: true`. It has a budget of its own, 60 an hour for each key.',
  query: {},
  data: Erasure,
  example: {
    trackerId: 'shop',
    subjectId: 'visitor-4711',
    alreadyErased: false,
    counts: { sessions: 3, events: 17 },
    erasedAt: '2026-11-15T09:30:00.000Z',
  },
  plan: () => null,
  async run(services, caller, { trackerId, subjectId }, _, requestId) {
    const view = trackerView(services, caller, trackerId)
    const { id, name, organisationId } = caller.key
    const origin: Origin = { actor: { kind: 'key', id, name }, requestId, organisationId }
    const { erasedAt, ...erasure } = await eraseSubject(services, view, subjectId, origin)
    return { trackerId, subjectId, ...erasure, erasedAt: formatInstant(erasedAt) }
  },
})

export function presentSummary({
  subjectId,
  firstSeenAt,
  lastSeenAt,
  counts,
}: SubjectSummary): SubjectSummaryBody {
  return { subjectId, firstSeenAt: formatInstant(firstSeenAt), lastSeenAt: formatInstant(lastSeenAt), counts }
}
