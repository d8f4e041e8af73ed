import { setTimeout as delay } from 'node:timers/promises'
import { notFound, type Problems } from '../domain/errors.ts'
import { type Clock, readInstant } from '../domain/instant.ts'
import type { Keyring } from '../domain/keyring.ts'
import { defaultPageSize, encodeCursor, type ListIdentity, readCursor } from '../domain/page.ts'
import type { Person } from '../domain/person.ts'
import {
  isClosed,
  type PrivacyRequest,
  type PrivacyRequestKind,
  type PrivacyRequestQuery,
  type PrivacyRequestStore,
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

interface RequestListOptions {
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

/** The requests of a person, recognised by any identifier or subject, closed ones too. Newest first. */
export function requestsOfPerson(
  { privacyRequests, keyring }: RequestDeps & { keyring: Keyring },
  organisationId: string,
  person: Person,
  limit: number,
): Promise<PrivacyRequest[]> {
  return privacyRequests.ofPerson(organisationId, keyring.personDigests(organisationId, person).flat(), limit)
}

const firstPauseMs = 10
const maxPauseMs = 250

/**
 * Resolves with the request when any process has closed it, when it rests longer than this would wait, or
 * after some time. Rejects if aborted.
 */
export async function waitUntilClosed(
  deps: { privacyRequests: PrivacyRequestStore; clock: Clock },
  request: PrivacyRequest,
  maxWaitMs: number,
  signal: AbortSignal,
): Promise<PrivacyRequest> {
  const endsAt = performance.now() + maxWaitMs
  let current = request
  for (let pauseMs = firstPauseMs; !isClosed(current); pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
    const leftMs = endsAt - performance.now()
    const { resumesAt } = current
    if (leftMs <= 0 || (resumesAt !== null && resumesAt - deps.clock() > leftMs)) return current
    await delay(Math.min(pauseMs, leftMs), undefined, { signal }).catch(() => {})
    signal.throwIfAborted()
    current = await requireRequest(deps, request.organisationId, request.id)
  }
  return current
}
