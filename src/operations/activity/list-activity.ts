import {
  type ActivityEntry,
  type ActivityQuery,
  type ActivityStore,
  isActivityKind,
} from '../../domain/activity.ts'
import { encodeCursor, type ListIdentity, readCursor } from '../../domain/cursor.ts'
import { type Instant, readInstant } from '../../domain/instant.ts'
import { defaultPageSize } from '../../domain/page.ts'
import type { Problems } from '../../domain/problems.ts'

export interface ActivityListOptions {
  limit?: number
  cursor?: string
  requestId?: string
  kind?: string
  /** The id of a member or a key, or `command-line`. */
  actor?: string
  /** Instants: then or later, and before. */
  since?: string
  until?: string
}

/** What is asked for, apart from the page of it. */
export interface ActivityFilters extends Pick<ActivityQuery, 'requestId' | 'kind' | 'actor'> {
  since: Instant | null
  until: Instant | null
}

/** Turns what a client asked for into filters. */
export function readActivityFilters(options: ActivityListOptions, problems: Problems): ActivityFilters {
  const { requestId = null, actor = null, kind = null } = options
  if (kind !== null && !isActivityKind(kind)) problems.add('kind', 'kind must be one of those that there are')
  return {
    ...{ requestId, actor, kind: kind !== null && isActivityKind(kind) ? kind : null },
    since: readInstant('since', options.since, problems),
    until: readInstant('until', options.until, problems),
  }
}

/** Turns what a client asked for into a query. */
export function planActivityList(
  organisationId: string,
  options: ActivityListOptions,
  problems: Problems,
): ActivityQuery & { filters: ActivityFilters } {
  const filters = readActivityFilters(options, problems)
  const isClear = !problems.has('requestId', 'kind', 'actor', 'since', 'until')
  const list = isClear ? identityOf(organisationId, filters) : null
  const after = readCursor(list, options.cursor, problems) ?? startOf(filters)
  return { ...toQuery(filters), limit: options.limit ?? defaultPageSize, after, filters }
}

/** A page of what was done in an organisation, newest first. */
export async function listActivity(
  { activity }: { activity: ActivityStore },
  organisationId: string,
  { filters, ...query }: ReturnType<typeof planActivityList>,
): Promise<{ entries: ActivityEntry[]; nextCursor: string | null }> {
  const { rows, next } = await activity.list(organisationId, query)
  const list = identityOf(organisationId, filters)
  return { entries: rows, nextCursor: next && encodeCursor(list, next.at, next.id) }
}

/** No id comes before the empty one: behind it lies what happened before that instant. */
export function startOf({ until }: ActivityFilters): ActivityQuery['after'] {
  return until === null ? null : { at: until, id: '' }
}

export function toQuery({ since, requestId, kind, actor }: ActivityFilters) {
  return { requestId, kind: kind ?? null, actor: actor ?? null, ...(since !== null && { since }) }
}

function identityOf(organisationId: string, filters: ActivityFilters): ListIdentity {
  const { requestId, kind = null, actor = null, since, until } = filters
  return ['activity', organisationId, requestId, kind, actor, since, until]
}
