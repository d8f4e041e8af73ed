import { defaultPageSize, maxPageSize } from '../../domain/page.ts'
import {
  identifierNamePattern,
  identifierNameRule,
  identifierValuePattern,
  identifierValueRule,
  maxIdentifierValueLength,
} from '../../domain/subject-identifier.ts'
import type { FoundSubject as StoredFound } from '../../domain/subject-search.ts'
import { planSubjectSearch, searchSubjects } from '../../operations/search-subjects.ts'
import { identifier } from '../parameters.ts'
import { defineRoute, organisationView } from '../route.ts'
import { integer, list, object, optional, text } from '../schema.ts'
import { exampleFound } from './examples.ts'
import { cursor, id, nextCursor, page, pageSize } from './fields.ts'
import { presentSummary, summaryFields } from './subjects.ts'

/** Without a default, because generated clients treat a body field with a default as always present. */
const bodyLimit = integer({
  ...pageSize,
  description: `The maximum number of items to return; ${defaultPageSize} by default.`,
})

export const subjectSearchBody = {
  identifier: optional(
    object(
      {
        name: text({
          maxLength: 32,
          pattern: identifierNamePattern,
          description: 'The kind of identifier, such as `email`.',
        }),
        value: text({
          minLength: 1,
          maxLength: maxIdentifierValueLength,
          pattern: identifierValuePattern,
          description: 'An `email` is compared case-insensitively, other identifiers exactly.',
        }),
      },
      {
        additionalProperties: false,
        description:
          'Finds the data subjects with this identifier, on all trackers. Cannot be combined with `subjectId`.',
        'x-rule': `an object with a name (${identifierNameRule}) and a value (${identifierValueRule})`,
      },
    ),
  ),
  subjectId: optional(
    text({
      ...identifier,
      description:
        'Finds the data subjects with this ID, on all trackers. Cannot be combined with `identifier`.',
    }),
  ),
  limit: optional(bodyLimit),
  cursor: optional(cursor),
}

export const FoundSubject = object(
  { trackerId: id(), ...summaryFields },
  { title: 'FoundSubject', description: 'A data subject that matches a search, with its tracker.' },
)

const HiddenSubject = object({ trackerId: id(), subjectId: id() }, { title: 'HiddenSubject' })

const FoundSubjectList = object(
  {
    subjects: page(FoundSubject),
    hidden: optional(
      list(HiddenSubject, {
        maxItems: maxPageSize,
        description:
          'Present only during the day between a change to a shorter plan and the deletion: data subjects of the person that the plan hides. They cannot be read, but a longer plan would restore them. To erase the person, erase these too.',
      }),
    ),
    nextCursor,
  },
  { title: 'FoundSubjectList' },
)

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
      'Finds the data subjects that have an identifier, such as an e-mail address, or an ID, on every tracker of the organisation. It is a POST so that no address is in a URL. Without a match the list is empty. It costs the same however many data subjects are stored. The order is arbitrary but stable: every data subject is on exactly one page.',
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

export function presentFound({ trackerId, ...summary }: StoredFound) {
  return { trackerId, ...presentSummary(summary) }
}
