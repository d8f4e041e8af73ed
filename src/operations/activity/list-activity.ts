import type { ActivityEntry, ActivityQuery, ActivityStore } from '../../domain/activity.ts'
import { encodeCursor, type ListIdentity, readCursor } from '../../domain/cursor.ts'
import { defaultPageSize } from '../../domain/page.ts'
import type { Problems } from '../../domain/problems.ts'

export interface ActivityListOptions {
  limit?: number
  cursor?: string
  requestId?: string
}

/** Turns what a client asked for into a query. */
export function planActivityList(
  organisationId: string,
  options: ActivityListOptions,
  problems: Problems,
): ActivityQuery {
  const { requestId = null } = options
  const list = problems.has('requestId') ? null : identityOf(organisationId, requestId)
  const after = readCursor(list, options.cursor, problems)
  return { limit: options.limit ?? defaultPageSize, after, requestId }
}

/** A page of what was done in an organisation, newest first. */
export async function listActivity(
  { activity }: { activity: ActivityStore },
  organisationId: string,
  query: ActivityQuery,
): Promise<{ entries: ActivityEntry[]; nextCursor: string | null }> {
  const { rows, next } = await activity.list(organisationId, query)
  const list = identityOf(organisationId, query.requestId)
  return { entries: rows, nextCursor: next && encodeCursor(list, next.at, next.id) }
}

function identityOf(organisationId: string, requestId: string | null): ListIdentity {
  return ['activity', organisationId, requestId]
}
