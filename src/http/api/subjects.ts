import { maxIdentifierLength } from '../../domain/identifier.ts'
import { formatInstant, instantRule } from '../../domain/instant.ts'
import { andThen } from '../../domain/maybe-promise.ts'
import {
  type SubjectSummary as StoredSummary,
  type SubjectRecord,
  subjectSorts,
} from '../../domain/subject.ts'
import { type Erasure as ErasureOutcome, eraseSubject } from '../../operations/erase-subject.ts'
import { listSubjects, planSubjectList, readSubject } from '../../operations/subject.ts'
import { identifier } from '../parameters.ts'
import { originOf } from '../request-context.ts'
import { defineRoute, trackerView } from '../route.ts'
import { boolean, list, listedChoice, object, optional, text, type ValueOf } from '../schema.ts'
import {
  exampleErasure,
  exampleErasureParameters,
  exampleSubject,
  exampleSubjectParameters,
  exampleSubjects,
} from './examples.ts'
import {
  Counts,
  cursor,
  freeForm,
  Identifier,
  id,
  instant,
  limit,
  nextCursor,
  page,
  receipt,
} from './fields.ts'

const instantParameter = { type: 'string', format: 'date-time', 'x-rule': instantRule }

export const subjectListParameters = {
  limit: optional(limit),
  cursor: optional(cursor),
  sort: optional(
    listedChoice(subjectSorts, {
      description:
        'The sort order. `subjectId`, the default, lists every data subject once even if data changes in the meantime. With a `lastSeen…` filter the default is `lastSeenAt`.',
    }),
  ),
  subjectIdPrefix: optional(
    text({
      ...identifier,
      pattern: '^[^\\x00-\\x1f\\x7f-\\x9f]+$',
      description: 'Only IDs with this prefix. Requires `sort=subjectId`.',
      'x-rule': `1 to ${maxIdentifierLength} characters, no control characters`,
    }),
  ),
  lastSeenAfter: optional(
    text({
      ...instantParameter,
      description: 'Only data subjects last seen at this time or later. Requires a `lastSeenAt` sort order.',
    }),
  ),
  lastSeenBefore: optional(
    text({
      ...instantParameter,
      description: 'Only data subjects last seen before this time. Requires a `lastSeenAt` sort order.',
    }),
  ),
}

export const summaryFields = {
  subjectId: id(),
  firstSeenAt: instant('The start of the oldest session stored.'),
  lastSeenAt: instant('The end of the newest activity stored.'),
  counts: Counts,
}

const SubjectSummary = object(summaryFields, {
  title: 'SubjectSummary',
  description: 'A data subject in a list.',
})

export const subjectFields = {
  trackerId: id(),
  ...summaryFields,
  identifiers: list(Identifier, {
    description: 'Its identifiers. An identifier expires with the newest data that contained it.',
  }),
  attributes: freeForm('The attributes of the newest session.'),
}

const Subject = object(subjectFields, {
  title: 'Subject',
  description: 'What is stored about one data subject.',
})

export const SubjectList = object({ subjects: page(SubjectSummary), nextCursor }, { title: 'SubjectList' })

const Erasure = object(
  {
    trackerId: id(),
    subjectId: id(),
    alreadyErased: boolean({
      description:
        'The data subject had no data: it was erased before, its data has expired, or it was never seen.',
    }),
    counts: Counts,
    erasedAt: instant('When the data was erased.'),
    receipt,
  },
  { title: 'Erasure', description: 'What this request deleted.' },
)

type SubjectSummaryBody = ValueOf<typeof SubjectSummary>

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
      'Every page costs the same, however large the tracker is. A tracker without data subjects gives an empty list.',
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
      'The export adds all sessions and events to this record. A data subject whose data has expired or was erased is not found.',
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
      'Deletes everything stored about the data subject in one transaction and returns what this request deleted. It cannot be undone. It is safe to repeat: a data subject without data gives zero counts and `alreadyErased: true`. Keep the `receipt`: it proves the erasure to anyone.',
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

function presentErasure({ alreadyErased, counts, erasedAt, receipt }: ErasureOutcome) {
  return { alreadyErased, counts, erasedAt: formatInstant(erasedAt), receipt }
}

export function presentSummary({
  subjectId,
  firstSeenAt,
  lastSeenAt,
  counts,
}: StoredSummary): SubjectSummaryBody {
  return { subjectId, firstSeenAt: formatInstant(firstSeenAt), lastSeenAt: formatInstant(lastSeenAt), counts }
}
