import { maxIdentifierLength } from '../../domain/identifier.ts'
import { formatInstant, instantRule } from '../../domain/instant.ts'
import { andThen } from '../../domain/maybe-promise.ts'
import { defaultPageSize, maxPageSize } from '../../domain/page.ts'
import {
  type SubjectSummary as StoredSummary,
  type SubjectRecord,
  subjectSorts,
} from '../../domain/subject.ts'
import {
  identifierNamePattern,
  identifierNameRule,
  identifierValuePattern,
  identifierValueRule,
  maxIdentifierValueLength,
} from '../../domain/subject-identifier.ts'
import type { FoundSubject as StoredFound } from '../../domain/subject-search.ts'
import { type Erasure as ErasureOutcome, eraseSubject } from '../../operations/erase-subject.ts'
import { planSubjectSearch, searchSubjects } from '../../operations/search-subjects.ts'
import { listSubjects, planSubjectList, readSubject } from '../../operations/subject.ts'
import { identifier } from '../parameters.ts'
import { originOf } from '../request-context.ts'
import { defineRoute, organisationView, trackerView } from '../route.ts'
import { boolean, integer, list, object, oneOf, optional, text, type ValueOf } from '../schema.ts'
import {
  exampleErasure,
  exampleErasureParameters,
  exampleFound,
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
  pageSize,
  receipt,
} from './fields.ts'

/** Generated clients take a field of a body with a default for one that is always there. */
const bodyLimit = integer({
  ...pageSize,
  description: `How many to return at most; ${defaultPageSize} without it.`,
})

const instantParameter = { type: 'string', format: 'date-time', 'x-rule': instantRule }

export const subjectListParameters = {
  limit: optional(limit),
  cursor: optional(cursor),
  sort: optional(
    oneOf(subjectSorts, {
      description:
        'The order. `subjectId`, the default, walks a tracker completely whatever happens meanwhile. With a `lastSeen…` filter the default is `lastSeenAt`.',
      'x-rule': `one of ${subjectSorts.join(', ')}`,
    }),
  ),
  subjectIdPrefix: optional(
    text({
      ...identifier,
      pattern: '^[^\\x00-\\x1f\\x7f-\\x9f]+$',
      description: 'Only ids that start with this. Goes with `sort=subjectId`.',
      'x-rule': `1 to ${maxIdentifierLength} characters, no control characters`,
    }),
  ),
  lastSeenAfter: optional(
    text({
      ...instantParameter,
      description: 'Only subjects last seen at this instant or later. Goes with a `lastSeenAt` sort.',
    }),
  ),
  lastSeenBefore: optional(
    text({
      ...instantParameter,
      description: 'Only subjects last seen before this instant. Goes with a `lastSeenAt` sort.',
    }),
  ),
}

/** What the body of a search may hold. */
export const subjectSearchBody = {
  identifier: optional(
    object(
      {
        name: text({
          maxLength: 32,
          pattern: identifierNamePattern,
          description: 'What kind it is, such as `email`.',
        }),
        value: text({
          minLength: 1,
          maxLength: maxIdentifierValueLength,
          pattern: identifierValuePattern,
          description: 'An `email` is compared without regard to case, whatever else exactly.',
        }),
      },
      {
        additionalProperties: false,
        description: 'Whoever is known by this, in whichever tracker. Goes without `subjectId`.',
        'x-rule': `an object with a name (${identifierNameRule}) and a value (${identifierValueRule})`,
      },
    ),
  ),
  subjectId: optional(
    text({
      ...identifier,
      description: 'The data subjects with this id, in whichever tracker. Goes without `identifier`.',
    }),
  ),
  limit: optional(bodyLimit),
  cursor: optional(cursor),
}

const summaryFields = {
  subjectId: id(),
  firstSeenAt: instant('The start of the oldest session stored.'),
  lastSeenAt: instant('The end of the newest activity stored.'),
  counts: Counts,
}

const SubjectSummary = object(summaryFields, {
  title: 'SubjectSummary',
  description: 'A data subject as lists show it.',
})

export const subjectFields = {
  trackerId: id(),
  ...summaryFields,
  identifiers: list(Identifier, {
    description: 'What it is known by, by name and value. One goes with the newest data that brought it.',
  }),
  attributes: freeForm('What is known of the subject as of its newest session.'),
}

export const Subject = object(subjectFields, {
  title: 'Subject',
  description: 'What is stored about one data subject.',
})

export const SubjectList = object({ subjects: page(SubjectSummary), nextCursor }, { title: 'SubjectList' })

export const FoundSubject = object(
  { trackerId: id(), ...summaryFields },
  { title: 'FoundSubject', description: 'A data subject that a search found, and its tracker.' },
)

const HiddenSubject = object({ trackerId: id(), subjectId: id() }, { title: 'HiddenSubject' })

export const FoundSubjectList = object(
  {
    subjects: page(FoundSubject),
    hidden: optional(
      list(HiddenSubject, {
        maxItems: maxPageSize,
        description:
          'Present only after a change to a shorter plan, for the day before it deletes: data subjects of the person that the plan hides. They cannot be read, but a longer plan would bring them back. To erase the person, erase these too.',
      }),
    ),
    nextCursor,
  },
  { title: 'FoundSubjectList' },
)

export const Erasure = object(
  {
    trackerId: id(),
    subjectId: id(),
    alreadyErased: boolean({
      description: 'The subject held no data: erased before, aged out, or never seen.',
    }),
    counts: Counts,
    erasedAt: instant('When the data was gone.'),
    receipt,
  },
  { title: 'Erasure', description: 'What this very request deleted.' },
)

export type SubjectSummaryBody = ValueOf<typeof SubjectSummary>

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

export function presentFound({ trackerId, ...summary }: StoredFound) {
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
}: StoredSummary): SubjectSummaryBody {
  return { subjectId, firstSeenAt: formatInstant(firstSeenAt), lastSeenAt: formatInstant(lastSeenAt), counts }
}
