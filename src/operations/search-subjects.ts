import type { Problems } from '../domain/errors.ts'
import { identifierRule, isIdentifier } from '../domain/identifier.ts'
import { type Clock, earliestInstant, type Instant } from '../domain/instant.ts'
import { defaultPageSize, encodeCursor, type ListIdentity, type Page, readCursor } from '../domain/page.ts'
import { refKey, type SubjectRef } from '../domain/person.ts'
import { deletesFrom, type RetentionPolicy, type RetentionStore, startOfWindow } from '../domain/retention.ts'
import {
  comparableValue,
  identifierValueRule,
  isIdentifierValue,
  type SubjectIdentifier,
} from '../domain/subject-identifier.ts'
import type {
  FoundSubject,
  OrganisationView,
  SearchQuery,
  SearchStore,
  Sought,
} from '../domain/subject-search.ts'

/** Exactly one of the first two is required. */
interface SubjectSearchOptions {
  identifier?: SubjectIdentifier
  subjectId?: string
  limit?: number
  cursor?: string
}

export function planSubjectSearch(options: SubjectSearchOptions, problems: Problems): SearchQuery {
  const sought = readSought(options, problems)
  const isClear = !problems.has('identifier', 'subjectId')
  const position = readCursor(isClear ? identityOf(sought) : null, options.cursor, problems)
  const after = position?.id ?? null
  if (isClear && after !== null && 'identifier' in sought && !/^[0-9a-f]{32}$/.test(after))
    problems.add('cursor', 'cursor lies outside the search')
  return { sought, limit: options.limit ?? defaultPageSize, after }
}

/** JSON can contain lone surrogates, which a schema does not detect. */
export function readSought(
  { identifier, subjectId }: Pick<SubjectSearchOptions, 'identifier' | 'subjectId'>,
  problems: Problems,
): Sought {
  if (identifier && subjectId !== undefined)
    problems.add('subjectId', 'give either subjectId or identifier, not both')
  if (identifier && !isIdentifierValue(identifier.value))
    problems.add('identifier', `the value in identifier must be ${identifierValueRule}`)
  if (subjectId !== undefined && !isIdentifier(subjectId))
    problems.add('subjectId', `subjectId must be ${identifierRule}`)
  if (identifier) return { identifier }
  if (subjectId === undefined && !problems.has('subjectId'))
    problems.add('identifier', 'identifier or subjectId must be given')
  return { subjectId: subjectId ?? '' }
}

/** The visible subjects of a person, and those that the retention window hides. */
export interface StoredPage {
  subjects: FoundSubject[]
  hidden: SubjectRef[]
  next: string | null
}

/**
 * Subjects in all trackers of an organisation that match, including hidden ones with data since
 * `storedSince`, because an erasure must cover both.
 */
export async function searchStored(
  { search }: { search: SearchStore },
  view: OrganisationView,
  storedSince: Instant,
  query: SearchQuery,
): Promise<StoredPage> {
  const since = Math.min(view.since, storedSince)
  const { rows, next }: Page<FoundSubject, string> = await search.subjects({ ...view, since }, query)
  // A subject first seen within the window is completely visible.
  if (rows.every(({ firstSeenAt }) => firstSeenAt >= view.since)) return { subjects: rows, hidden: [], next }
  const seen = new Map((await search.subjects(view, query)).rows.map((each) => [refKey(each), each]))
  const subjects = rows.flatMap((each) => seen.get(refKey(each)) ?? [])
  const hidden = rows.filter((each) => !seen.has(refKey(each)))
  return { subjects, hidden: hidden.map(({ trackerId, subjectId }) => ({ trackerId, subjectId })), next }
}

/** Includes subjects that a shorter window hides during its grace period, but nobody who has aged out. */
export async function searchSubjects(
  deps: RetentionPolicy & { search: SearchStore; retention: RetentionStore; clock: Clock },
  view: OrganisationView,
  query: SearchQuery,
): Promise<{ subjects: FoundSubject[]; hidden: SubjectRef[]; nextCursor: string | null }> {
  const { subjects, hidden, next } = await searchStored(deps, view, await keptSince(deps, view), query)
  return { subjects, hidden, nextCursor: next && encodeCursor(identityOf(query.sought), 0, next) }
}

/** The start of the stored data that may become visible again, which a shorter window hides for a day. */
async function keptSince(
  deps: RetentionPolicy & { retention: RetentionStore; clock: Clock },
  { organisationId, since }: OrganisationView,
): Promise<Instant> {
  const { retentionDays, activityDays, clock } = deps
  const now = clock()
  const [settled] = await deps.retention.settleWindows({
    ...{ policy: { retentionDays, activityDays }, now, rule: 'longer-only' },
    ...{ organisationId, kind: 'visitors' },
  })
  if (!settled) return earliestInstant
  const { days, shorter } = settled.window
  return shorter && deletesFrom(shorter) <= now ? since : startOfWindow(days, now)
}

function identityOf(sought: Sought): ListIdentity {
  if ('subjectId' in sought) return ['search', 'subjectId', sought.subjectId]
  const { identifier } = sought
  return ['search', 'identifier', identifier.name, comparableValue(identifier)]
}
