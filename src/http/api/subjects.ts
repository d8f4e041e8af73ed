import { formatInstant } from '../../domain/instant.ts'
import { andThen } from '../../domain/maybe-promise.ts'
import type { SubjectRecord, SubjectSummary } from '../../domain/subject.ts'
import type { FoundSubject } from '../../domain/subject-search.ts'
import { type Erasure as ErasureOutcome, eraseSubject } from '../../operations/erase-subject.ts'
import { planSubjectSearch, searchSubjects } from '../../operations/search-subjects.ts'
import { listSubjects, planSubjectList, readSubject } from '../../operations/subject.ts'
import { originOf } from '../request-context.ts'
import { defineRoute, organisationView, trackerView } from '../route.ts'
import {
  exampleErasure,
  exampleErasureParameters,
  exampleFound,
  exampleSubject,
  exampleSubjectParameters,
  exampleSubjects,
} from './examples.ts'
import {
  Erasure,
  FoundSubjectList,
  Subject,
  SubjectList,
  type SubjectSummaryBody,
  subjectListParameters,
  subjectSearchBody,
} from './fields.ts'

const listPath = '/v1/analytics/trackers/{trackerId}/subjects'
export const subjectPath = `${listPath}/{subjectId}`

export const listSubjectsRoute = defineRoute({
  method: 'GET',
  path: listPath,
  access: 'analytics:view',
  query: subjectListParameters,
  response: SubjectList,
  documentation: {
    operationId: 'listSubjects',
    summary: 'List the data subjects of a tracker',
    description:
      'A page costs the same wherever it lies and however large the tracker is. An empty tracker gives an empty list.',
    exampleParameters: {
      trackerId: 'sample-shop',
      sort: 'subjectId',
      subjectIdPrefix: 'visitor-61',
      limit: 2,
    },
    exampleAlone: {
      cursor: '1ECpPH2YjdM1WzE3ODI5MTA5Njk4NTgsInZpc2l0b3ItNjEwMzAxNzAiXQ',
      lastSeenAfter: '2026-11-01T00:00:00.000Z',
      lastSeenBefore: '2026-11-08T00:00:00.000Z',
    },
    example: {
      subjects: exampleSubjects,
      nextCursor: '1ECpPH2YjdM1WzE3ODI5MTA5Njk4NTgsInZpc2l0b3ItNjEwMzAxNzAiXQ',
    },
  },
  plan: ({ path, query }, problems) => planSubjectList(path.trackerId, query, problems),
  handle: (call) =>
    andThen(
      listSubjects(call.services, trackerView(call, call.path.trackerId), call.plan),
      ({ subjects, nextCursor }) => ({ subjects: subjects.map(presentSummary), nextCursor }),
    ),
})

export const readSubjectRoute = defineRoute({
  method: 'GET',
  path: subjectPath,
  access: 'analytics:view',
  response: Subject,
  documentation: {
    operationId: 'readSubject',
    summary: 'Read what is stored about a data subject',
    description:
      'The complete copy, this record with all its sessions and events, is its export. A subject whose data has aged out or was erased is not found.',
    exampleParameters: exampleSubjectParameters,
    example: exampleSubject,
  },
  handle(call) {
    const { trackerId, subjectId } = call.path
    return andThen(readSubject(call.services, trackerView(call, trackerId), subjectId), (record) =>
      presentRecord(trackerId, record),
    )
  },
})

export const searchSubjectsRoute = defineRoute({
  method: 'POST',
  path: '/v1/analytics/subjects/search',
  access: 'analytics:view',
  body: subjectSearchBody,
  response: FoundSubjectList,
  documentation: {
    operationId: 'searchSubjects',
    summary: 'Find the data subjects of a person',
    description:
      'Finds whoever is known by an identifier, such as an e-mail address, or has an id, in every tracker of the organisation. It is a POST so that no address stands in a URL. Nobody found is an empty list. It costs the same however many subjects there are. The order says nothing, but stays: a walk through all pages meets each of them once.',
    exampleParameters: {},
    exampleBody: { identifier: { name: 'email', value: 'bela@example.com' } },
    example: { subjects: exampleFound, nextCursor: null },
  },
  plan: ({ body }, problems) => planSubjectSearch(body, problems),
  async handle(call) {
    const { subjects, hidden, nextCursor } = await searchSubjects(
      call.services,
      organisationView(call),
      call.plan,
    )
    return { subjects: subjects.map(presentFound), nextCursor, ...(hidden.length > 0 && { hidden }) }
  },
})

export const eraseSubjectRoute = defineRoute({
  method: 'DELETE',
  path: subjectPath,
  access: 'analytics:delete-data',
  isErasure: true,
  response: Erasure,
  documentation: {
    operationId: 'eraseSubject',
    summary: 'Erase a data subject, for good',
    description:
      'Deletes everything stored about the subject in one transaction and tells what this request deleted. It cannot be undone. Safe to repeat: a subject that holds no data gives zero counts and `alreadyErased: true`. `receipt` proves it to anybody who asks: keep it.',
    exampleParameters: exampleErasureParameters,
    example: exampleErasure,
  },
  async handle(call) {
    const { trackerId, subjectId } = call.path
    const view = trackerView(call, trackerId)
    const erasure = await eraseSubject(call.services, view, subjectId, originOf(call.context))
    return { trackerId, subjectId, ...presentErasure(erasure) }
  },
})

export function presentRecord(trackerId: string, record: SubjectRecord) {
  const { identifiers, attributes } = record
  return { trackerId, ...presentSummary(record), identifiers, attributes }
}

export function presentFound({ trackerId, ...summary }: FoundSubject) {
  return { trackerId, ...presentSummary(summary) }
}

export function presentErasure({ alreadyErased, counts, erasedAt, receipt }: ErasureOutcome) {
  return { alreadyErased, counts, erasedAt: formatInstant(erasedAt), receipt }
}

export function presentSummary({
  subjectId,
  firstSeenAt,
  lastSeenAt,
  counts,
}: SubjectSummary): SubjectSummaryBody {
  return { subjectId, firstSeenAt: formatInstant(firstSeenAt), lastSeenAt: formatInstant(lastSeenAt), counts }
}
