import { notFound, type Problems } from '../domain/errors.ts'
import { readInstant } from '../domain/instant.ts'
import type { Keyring } from '../domain/keyring.ts'
import { defaultPageSize, encodeCursor, type ListIdentity, readCursor } from '../domain/page.ts'
import type { Person } from '../domain/person.ts'
import type {
  PrivacyRequest,
  PrivacyRequestKind,
  PrivacyRequestQuery,
  PrivacyRequestStore,
} from '../domain/privacy-request.ts'
import type { OrganisationView } from '../domain/subject-search.ts'
import { countFound, type RequestSearchDeps, searchRequest } from './search-request.ts'

interface RequestDeps {
  privacyRequests: PrivacyRequestStore
}

/** `found` is that of the last search. Throws `not_found` if the organisation has no such request. */
export async function requireRequest(
  { privacyRequests }: RequestDeps,
  organisationId: string,
  requestId: string,
): Promise<PrivacyRequest> {
  const request = await privacyRequests.find({ organisationId, id: toRequestId(requestId) })
  if (request === null) throw notFound('This request')
  return request
}

/** While the request is open, `found` is what is stored now. Throws `not_found`. */
export async function readRequest(
  deps: RequestDeps & RequestSearchDeps,
  view: OrganisationView,
  requestId: string,
): Promise<PrivacyRequest> {
  return withFound(deps, view, await requireRequest(deps, view.organisationId, requestId))
}

/** Searches again for the person of an open request. */
export async function withFound(
  deps: RequestSearchDeps,
  view: OrganisationView,
  request: PrivacyRequest,
): Promise<PrivacyRequest> {
  const { person } = request
  if (request.state !== 'open' || person === null) return request
  return { ...request, found: countFound(await searchRequest(deps, view, { ...request, person })) }
}

/** UUIDs are compared without regard to case. */
export function toRequestId(text: string): string {
  return text.toLowerCase()
}

export interface RequestListOptions {
  limit?: number
  cursor?: string
  state?: NonNullable<PrivacyRequestQuery['state']>
  kind?: PrivacyRequestKind
  dueBefore?: string
}

export function planRequestList(options: RequestListOptions, problems: Problems): PrivacyRequestQuery {
  const { limit = defaultPageSize, state = null, kind = null } = options
  const dueBefore = readInstant('dueBefore', options.dueBefore, problems)
  const isClear = !problems.has('state', 'kind', 'dueBefore')
  const position = readCursor(
    isClear ? identityOf({ state, kind, dueBefore }) : null,
    options.cursor,
    problems,
  )
  const after = position && { dueAt: position.at, id: position.id }
  return { limit, after, state, kind, dueBefore }
}

/** Soonest due first. `found` is that of the last search. */
export async function listRequests(
  { privacyRequests }: RequestDeps,
  organisationId: string,
  query: PrivacyRequestQuery,
): Promise<{ requests: PrivacyRequest[]; nextCursor: string | null }> {
  const { rows, next } = await privacyRequests.list(organisationId, query)
  return { requests: rows, nextCursor: next && encodeCursor(identityOf(query), next.dueAt, next.id) }
}

function identityOf({
  state,
  kind,
  dueBefore,
}: Pick<PrivacyRequestQuery, 'state' | 'kind' | 'dueBefore'>): ListIdentity {
  return ['requests', state, kind, dueBefore]
}

/** The requests of a person, recognised by any identifier or subject, also after they were closed. Newest first. */
export function requestsOfPerson(
  { privacyRequests, keyring }: RequestDeps & { keyring: Keyring },
  organisationId: string,
  person: Person,
  limit: number,
): Promise<PrivacyRequest[]> {
  return privacyRequests.ofPerson(organisationId, keyring.personDigests(organisationId, person).flat(), limit)
}
