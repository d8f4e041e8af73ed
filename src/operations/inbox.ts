import type { Problems } from '../domain/errors.ts'
import { type Clock, startOfDay } from '../domain/instant.ts'
import type { Member, MemberStore } from '../domain/member.ts'
import { defaultPageSize, encodeCursor, type ListIdentity, readCursor } from '../domain/page.ts'
import {
  type PrivacyRequest,
  type PrivacyRequestKind,
  type PrivacyRequestQuery,
  type PrivacyRequestState,
  type PrivacyRequestStore,
  pendingStates,
  requestStates,
} from '../domain/privacy-request.ts'
import type { RequestGroupStore } from '../domain/request-group.ts'

/** `pending` is open or running. */
export const inboxStates = ['pending', 'all', 'open', 'running', 'done', 'rejected', 'cancelled'] as const

interface InboxOptions {
  limit?: number
  cursor?: string
  state?: (typeof inboxStates)[number]
  kind?: PrivacyRequestKind
  /** `me`, `none` or the ID of a member. */
  assignee?: string
  isOverdue?: boolean
  /** Lists each request with this reference; otherwise one for all with the same reference and kind. */
  reference?: string
}

interface InboxPlan {
  limit: number
  after: PrivacyRequestQuery['after']
  filters: {
    state: PrivacyRequestState | 'pending' | null
    kind: PrivacyRequestKind | null
    assignee: string | null
    isOverdue: boolean
    reference: string | null
  }
}

export function planInbox(options: InboxOptions, problems: Problems): InboxPlan {
  const { state = 'pending', kind = null, assignee = null, isOverdue = false, reference = null } = options
  const filters = { state: state === 'all' ? null : state, kind, assignee, isOverdue, reference }
  if (reference !== null && assignee !== null)
    problems.add('assignee', 'assignee cannot be combined with reference')
  if (isOverdue && !isPending(filters))
    problems.add('overdue', 'overdue is only for requests that are not closed')
  const isClear = !problems.has('state', 'kind', 'assignee', 'overdue', 'reference')
  const position = readCursor(isClear ? identityOf(filters) : null, options.cursor, problems)
  const after = position && { dueAt: position.at, id: position.id }
  return { limit: options.limit ?? defaultPageSize, after, filters }
}

export interface InboxRow {
  request: PrivacyRequest
  assignee: Member | null
  /** How many requests the row stands for: those with the same reference and kind in the listed states. */
  size: number
}

/** Soonest due first; latest due first if the list has closed requests. `memberId` is the member who asks. */
export async function listInbox(
  deps: {
    privacyRequests: PrivacyRequestStore
    requestGroups: RequestGroupStore
    members: MemberStore
    clock: Clock
  },
  organisationId: string,
  memberId: string,
  { limit, after, filters }: InboxPlan,
): Promise<{ requests: InboxRow[]; nextCursor: string | null }> {
  const { state, kind, assignee, isOverdue, reference } = filters
  // A member's own requests are listed one by one.
  const isGrouped = reference === null && assignee === null
  const assigneeId = assignee === 'me' ? memberId : assignee === 'none' ? null : assignee
  const { rows, next } = await deps.privacyRequests.list(organisationId, {
    ...{ limit, after, state, kind, dueBefore: isOverdue ? startOfDay(deps.clock()) : null },
    ...(assignee !== null && { assigneeId }),
    ...(reference !== null && { reference }),
    ...{ isLatestFirst: !isPending(filters), isGrouped },
  })
  const sizeOf = isGrouped ? await groupSizes(deps, organisationId, rows, state) : () => 1
  const ids = new Set(rows.flatMap((each) => each.assigneeId ?? []))
  const members = ids.size === 0 ? [] : await deps.members.list(organisationId)
  const requests = rows.map((request) => ({
    request,
    assignee: members.find(({ id }) => id === request.assigneeId) ?? null,
    size: sizeOf(request),
  }))
  return { requests, nextCursor: next && encodeCursor(identityOf(filters), next.dueAt, next.id) }
}

async function groupSizes(
  { requestGroups }: { requestGroups: RequestGroupStore },
  organisationId: string,
  rows: readonly PrivacyRequest[],
  state: InboxPlan['filters']['state'],
): Promise<(row: PrivacyRequest) => number> {
  const states = state === null ? requestStates : state === 'pending' ? pendingStates : [state]
  const references = new Set(rows.flatMap(({ reference }) => reference ?? []))
  const sizes = new Map<string, Record<PrivacyRequestKind, number>>()
  for (const reference of references)
    sizes.set(reference, await requestGroups.sizes(organisationId, reference, states))
  return ({ reference, kind }) => (reference === null ? 1 : (sizes.get(reference)?.[kind] ?? 1))
}

function isPending({ state }: Pick<InboxPlan['filters'], 'state'>): boolean {
  return state === 'pending' || state === 'open' || state === 'running'
}

function identityOf({ state, kind, assignee, isOverdue, reference }: InboxPlan['filters']): ListIdentity {
  return ['inbox', state, kind, assignee, Number(isOverdue), reference]
}
