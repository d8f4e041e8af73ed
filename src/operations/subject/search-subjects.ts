import { encodeCursor, type ListIdentity, readCursor } from '../../domain/cursor.ts'
import { identifierRule, isIdentifier } from '../../domain/identifier.ts'
import { andThen, type MaybePromise } from '../../domain/maybe-promise.ts'
import { defaultPageSize } from '../../domain/page.ts'
import type { Problems } from '../../domain/problems.ts'
import {
  comparableValue,
  identifierValueRule,
  isIdentifierValue,
  type SubjectIdentifier,
} from '../../domain/subject-identifier.ts'
import type {
  FoundSubject,
  OrganisationView,
  SearchQuery,
  SearchStore,
  Sought,
} from '../../domain/subject-search.ts'

/** How a client asks for a page: by one of the first two. */
export interface SubjectSearchOptions {
  identifier?: SubjectIdentifier
  subjectId?: string
  limit?: number
  cursor?: string
}

/** Turns what a client asked for into a query. What does not fit together becomes a problem of its field. */
export function planSubjectSearch(options: SubjectSearchOptions, problems: Problems): SearchQuery {
  const sought = readSought(options, problems)
  const isClear = !problems.has('identifier', 'subjectId')
  const position = readCursor(isClear ? identityOf(sought) : null, options.cursor, problems)
  const after = position?.id ?? null
  if (isClear && after !== null && 'identifier' in sought && !/^[0-9a-f]{32}$/.test(after))
    problems.add('cursor', 'cursor lies outside the search')
  return { sought, limit: options.limit ?? defaultPageSize, after }
}

/** Text in JSON can hold halves of characters, which no schema sees. */
function readSought({ identifier, subjectId }: SubjectSearchOptions, problems: Problems): Sought {
  if (identifier && subjectId !== undefined)
    problems.add('subjectId', 'subjectId goes without identifier: look for one of them')
  if (identifier && !isIdentifierValue(identifier.value))
    problems.add('identifier', `the value in identifier must be ${identifierValueRule}`)
  if (subjectId !== undefined && !isIdentifier(subjectId))
    problems.add('subjectId', `subjectId must be ${identifierRule}`)
  if (identifier) return { identifier }
  if (subjectId === undefined && !problems.has('subjectId'))
    problems.add('identifier', 'identifier or subjectId must be given')
  return { subjectId: subjectId ?? '' }
}

/** A page of the subjects that somebody is known by, in all trackers of the organisation. Nobody found is an empty list. */
export function searchSubjects(
  { search }: { search: SearchStore },
  view: OrganisationView,
  query: SearchQuery,
): MaybePromise<{ subjects: FoundSubject[]; nextCursor: string | null }> {
  return andThen(search.subjects(view, query), ({ rows, next }) => ({
    subjects: rows,
    nextCursor: next && encodeCursor(identityOf(query.sought), 0, next),
  }))
}

function identityOf(sought: Sought): ListIdentity {
  if ('subjectId' in sought) return ['search', 'subjectId', sought.subjectId]
  const { identifier } = sought
  return ['search', 'identifier', identifier.name, comparableValue(identifier)]
}
