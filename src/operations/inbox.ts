import type { Problems } from '../domain/errors.ts'
import type { Clock } from '../domain/instant.ts'
import type { Member, MemberStore } from '../domain/member.ts'
import { defaultPageSize, encodeCursor, type ListIdentity, readCursor } from '../domain/page.ts'
import type {
  PrivacyRequest,
  PrivacyRequestKind,
  PrivacyRequestQuery,
  PrivacyRequestState,
  PrivacyRequestStore,
} from '../domain/privacy-request.ts'

/** `pending` is open or running. */
export const inboxStates = ['pending', 'all', 'open', 'running', 'done', 'rejected', 'cancelled'] as const

export interface InboxOptions {
  limit?: number
  cursor?: string
  state?: (typeof inboxStates)[number]
  kind?: PrivacyRequestKind
  /** `me`, `none` or the ID of a member. */
  assignee?: string
  isOverdue?: boolean
}

export interface InboxPlan {
  limit: number
  after: PrivacyRequestQuery['after']
  filters: {
    state: PrivacyRequestState | 'pending' | null
    kind: PrivacyRequestKind | null
    assignee: string | null
    isOverdue: boolean
  }
}

export function planInbox(options: InboxOptions, problems: Problems): InboxPlan {
  const { state = 'pending', kind = null, assignee = null, isOverdue = false } = options
  const filters = { state: state === 'all' ? null : state, kind, assignee, isOverdue }
  if (isOverdue && !isPending(filters))
    problems.add('overdue', 'overdue is only for requests that are not closed')
  const isClear = !problems.has('state', 'kind', 'assignee', 'overdue')
  const position = readCursor(isClear ? identityOf(filters) : null, options.cursor, problems)
  const after = position && { dueAt: position.at, id: position.id }
  return { limit: options.limit ?? defaultPageSize, after, filters }
}

/** Soonest due first; latest due first if the list has closed requests. `memberId` is the member who asks. */
export async function listInbox(
  deps: { privacyRequests: PrivacyRequestStore; members: MemberStore; clock: Clock },
  organisationId: string,
  memberId: string,
  { limit, after, filters }: InboxPlan,
): Promise<{ requests: { request: PrivacyRequest; assignee: Member | null }[]; nextCursor: string | null }> {
  const { state, kind, assignee, isOverdue } = filters
  const assigneeId = assignee === 'me' ? memberId : assignee === 'none' ? null : assignee
  const { rows, next } = await deps.privacyRequests.list(organisationId, {
    ...{ limit, after, state, kind, dueBefore: isOverdue ? deps.clock() : null },
    ...(assignee !== null && { assigneeId }),
    isLatestFirst: !isPending(filters),
  })
  const ids = new Set(rows.flatMap((each) => each.assigneeId ?? []))
  const members = ids.size === 0 ? [] : await deps.members.list(organisationId)
  const requests = rows.map((request) => ({
    request,
    assignee: members.find(({ id }) => id === request.assigneeId) ?? null,
  }))
  return { requests, nextCursor: next && encodeCursor(identityOf(filters), next.dueAt, next.id) }
}

function isPending({ state }: Pick<InboxPlan['filters'], 'state'>): boolean {
  return state === 'pending' || state === 'open' || state === 'running'
}

function identityOf({ state, kind, assignee, isOverdue }: InboxPlan['filters']): ListIdentity {
  return ['inbox', state, kind, assignee, Number(isOverdue)]
}
