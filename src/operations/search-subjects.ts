import type { SubjectRef } from '../domain/erasure-batch.ts'
import type { Problems } from '../domain/errors.ts'
import { identifierRule, isIdentifier } from '../domain/identifier.ts'
import type { Clock, Instant } from '../domain/instant.ts'
import { defaultPageSize, encodeCursor, type ListIdentity, type Page, readCursor } from '../domain/page.ts'
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

/** A page of what is stored of a person: the subjects that can be seen, and those that a window hides, or whose identifier it hides. */
export interface StoredPage {
  subjects: FoundSubject[]
  hidden: SubjectRef[]
  next: string | null
}

/** Before anything that can be stored. */
export const ever: Instant = Number.MIN_SAFE_INTEGER

/**
 * A page of the subjects that somebody is known by, in all trackers of the organisation, with those that can no longer be seen but hold
 * data since `storedSince`: an erasure of a person must reach both. Nobody found is an empty page.
 */
export async function searchStored(
  { search }: { search: SearchStore },
  view: OrganisationView,
  storedSince: Instant,
  query: SearchQuery,
): Promise<StoredPage> {
  const since = Math.min(view.since, storedSince)
  const { rows, next }: Page<FoundSubject, string> = await search.subjects({ ...view, since }, query)
  // Who came first within the window has nothing to hide.
  if (rows.every(({ firstSeenAt }) => firstSeenAt >= view.since)) return { subjects: rows, hidden: [], next }
  const seen = new Map((await search.subjects(view, query)).rows.map((each) => [nameOf(each), each]))
  const subjects = rows.flatMap((each) => seen.get(nameOf(each)) ?? [])
  const hidden = rows.filter((each) => !seen.has(nameOf(each)))
  return { subjects, hidden: hidden.map(({ trackerId, subjectId }) => ({ trackerId, subjectId })), next }
}

function nameOf({ trackerId, subjectId }: SubjectRef): string {
  return `${trackerId}\0${subjectId}`
}

/** A page for a client. It names those that a shorter window hides for the day before it deletes, and nobody who has aged out. */
export async function searchSubjects(
  deps: RetentionPolicy & { search: SearchStore; retention: RetentionStore; clock: Clock },
  view: OrganisationView,
  query: SearchQuery,
): Promise<{ subjects: FoundSubject[]; hidden: SubjectRef[]; nextCursor: string | null }> {
  const { subjects, hidden, next } = await searchStored(deps, view, await keptSince(deps, view), query)
  return { subjects, hidden, nextCursor: next && encodeCursor(identityOf(query.sought), 0, next) }
}

/** Since when data is kept that may be seen again: for longer than it is seen while a shorter window waits. */
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
  if (!settled) return ever
  const { days, shorter } = settled.window
  return shorter && deletesFrom(shorter) <= now ? since : startOfWindow(days, now)
}

function identityOf(sought: Sought): ListIdentity {
  if ('subjectId' in sought) return ['search', 'subjectId', sought.subjectId]
  const { identifier } = sought
  return ['search', 'identifier', identifier.name, comparableValue(identifier)]
}
