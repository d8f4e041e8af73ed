import type { ActivityKind, ActivityNote, Origin } from '../domain/activity.ts'
import { invalidField, type LetheError } from '../domain/errors.ts'
import { isWellFormedText } from '../domain/identifier.ts'
import { addMonths, type Clock } from '../domain/instant.ts'
import type { Journal } from '../domain/journal.ts'
import { namesPerson } from '../domain/person.ts'
import {
  isClosed,
  maxReasonLength,
  type PrivacyRequest,
  type PrivacyRequestRef,
  type PrivacyRequestState,
  type PrivacyRequestStore,
} from '../domain/privacy-request.ts'
import type { Randomness } from '../domain/randomness.ts'
import type { RequestGroupStore } from '../domain/request-group.ts'
import type { OrganisationView } from '../domain/subject-search.ts'
import { activityNote } from './activity.ts'
import { monthsOfExtension } from './create-privacy-request.ts'
import { finishRequest } from './finish-privacy-request.ts'
import { journalClosings } from './journal-closing.ts'
import { requireRequest, withFound } from './privacy-request.ts'
import {
  countCopied,
  countFound,
  namesFound,
  type RequestSearchDeps,
  searchRequest,
} from './search-request.ts'

interface ChangeDeps extends RequestSearchDeps {
  privacyRequests: PrivacyRequestStore
  journal?: Journal | undefined
  clock: Clock
  randomness: Randomness
}

// Each throws `not_found`, or `validation_error` on `state` if the request is in another state.

/** Paragraphs. */
export const reasonPattern = '^(?:[^\\x00-\\x1f\\x7f-\\x9f]|[\\n\\r\\t])+$'
export const reasonRule = `1 to ${maxReasonLength} characters, no control characters except line breaks and tabs`

const paragraphs = new RegExp(reasonPattern, 'u')

/** Two more months, once. */
export async function extendRequest(
  deps: ChangeDeps,
  view: OrganisationView,
  requestId: string,
  reason: string,
  origin: Origin,
): Promise<PrivacyRequest> {
  const request = await requireRequest(deps, view.organisationId, requestId)
  await checkReason(deps, view, reason, request)
  const dueAt = addMonths(request.dueAt, monthsOfExtension)
  const extension = { dueAt, reason, now: deps.clock() }
  const note = noteOf(deps, request, 'request.extended', origin)
  const isExtended =
    request.extendedAt === null && (await deps.privacyRequests.extend(request, extension, note))
  const changed = await requireRequest(deps, view.organisationId, requestId)
  if (!isExtended) {
    requireState(changed, ['open', 'running'])
    throw invalidField('extendedAt', 'a request can be extended once')
  }
  return withFound(deps, view, changed)
}

/** Ends an open request without doing what it asks. */
export async function rejectRequest(
  deps: ChangeDeps,
  view: OrganisationView,
  requestId: string,
  reason: string,
  origin: Origin,
): Promise<PrivacyRequest> {
  const request = await requireRequest(deps, view.organisationId, requestId)
  await checkReason(deps, view, reason, request)
  const closing = { from: ['open'], to: 'rejected', rejectionReason: reason } as const
  return endUnanswered(deps, view, requestId, closing, origin)
}

/** Withdraws a request. What a running one has erased stays erased; it erases nothing more. */
export function cancelRequest(
  deps: ChangeDeps,
  view: OrganisationView,
  requestId: string,
  origin: Origin,
): Promise<PrivacyRequest> {
  const closing = { from: ['open', 'running'], to: 'cancelled', rejectionReason: null } as const
  return endUnanswered(deps, view, requestId, closing, origin)
}

async function endUnanswered(
  deps: ChangeDeps,
  { organisationId }: OrganisationView,
  requestId: string,
  {
    from,
    to,
    rejectionReason,
  }: {
    from: readonly PrivacyRequestState[]
    to: 'rejected' | 'cancelled'
    rejectionReason: string | null
  },
  origin: Origin,
): Promise<PrivacyRequest> {
  const request = await requireRequest(deps, organisationId, requestId)
  const note = noteOf(deps, request, `request.${to}`, origin)
  const closing = { from, to, rejectionReason, now: deps.clock() }
  const isClosed = await deps.privacyRequests.close(request, closing, note)
  const changed = await requireRequest(deps, organisationId, requestId)
  if (!isClosed) throw wrongState(changed)
  await journalClosings(deps, [changed])
  return changed
}

/** Closes an access request that was answered. Proves that nothing is held if nothing was found. */
export async function closeRequest(
  deps: ChangeDeps,
  view: OrganisationView,
  requestId: string,
  origin: Origin,
): Promise<PrivacyRequest> {
  const request = await requireRequest(deps, view.organisationId, requestId)
  requireKind(request, 'access')
  requireState(request, ['open'])
  const { person } = request
  if (person !== null) {
    const checkedAt = deps.clock()
    const found = await searchRequest(deps, view, { ...request, person })
    const nothingHeld = person.identifiers.filter((_, i) => !found.heldIdentifiers.includes(i))
    const copied = countCopied(found)
    // If everything is hidden, something is still held.
    const counts = copied.subjects > 0 ? copied : countFound(found)
    const end = { lease: null, found: counts, left: null, nothingHeld, checkedAt }
    const note = noteOf(deps, request, 'request.closed', origin)
    if (await finishRequest(deps, request, end, note))
      return requireRequest(deps, view.organisationId, requestId)
  }
  // Closed by someone else meanwhile.
  throw wrongState(await requireRequest(deps, view.organisationId, requestId))
}

/** An open erasure request, and what it finds. */
type StartableRequest = PrivacyRequestRef & Pick<PrivacyRequest, 'found'>

/**
 * Starts to erase what open erasure requests find. Every erasure of a request begins here: of a key or a
 * member, of one person or of many. A member's may have to wait for another member's approval. `action` says
 * how many people are erased with one action, of which some have begun.
 */
export function startErasures(
  deps: Pick<ChangeDeps, 'clock' | 'randomness'> & { requestGroups: RequestGroupStore },
  requests: readonly StartableRequest[],
  origin: Origin,
  action = { people: requests.length, started: 0 },
): Promise<{ started: number; waiting: number }> {
  const starts = requests.map(({ organisationId, id, found }) => ({
    ref: { organisationId, id },
    starter: { startedBy: origin.actor, requestId: origin.requestId, found },
    note: noteOf(deps, { organisationId, id }, 'request.started', origin),
  }))
  return deps.requestGroups.start(starts, action)
}

/** Starts to erase what an erasure request finds, or waits for an approval. Safe to repeat. */
export async function startRequest(
  deps: ChangeDeps & { requestGroups: RequestGroupStore },
  view: OrganisationView,
  requestId: string,
  origin: Origin,
): Promise<PrivacyRequest> {
  const request = await requireRequest(deps, view.organisationId, requestId)
  requireKind(request, 'erasure')
  requireState(request, ['open', 'running'])
  const { found } = await withFound(deps, view, request)
  if (request.state === 'open') await startErasures(deps, [{ ...request, found }], origin)
  const changed = await requireRequest(deps, view.organisationId, requestId)
  // Someone else may have started it, and it may even have ended since.
  const isBegun = changed.state === 'running' || changed.state === 'done' || changed.approval !== null
  if (!isBegun) throw wrongState(changed)
  return changed
}

function noteOf(
  deps: Pick<ChangeDeps, 'clock' | 'randomness'>,
  { organisationId, id }: PrivacyRequestRef,
  kind: ActivityKind,
  origin: Origin,
): ActivityNote {
  return activityNote(deps, origin, { organisationId, kind, target: id })
}

async function checkReason(
  deps: RequestSearchDeps,
  view: OrganisationView,
  reason: string,
  request: PrivacyRequest,
): Promise<void> {
  if (!isWellFormedText(reason, paragraphs, maxReasonLength) || reason.trim() === '')
    throw invalidField('reason', `reason must be ${reasonRule}`)
  const { person } = request
  if (person === null) return
  const isNamed =
    namesPerson(reason, person) ||
    (await namesFound(reason, await searchRequest(deps, view, { ...request, person })))
  if (isNamed) throw invalidField('reason', 'reason must not name the person, because it is kept')
}

function requireKind({ kind }: PrivacyRequest, expected: PrivacyRequest['kind']): void {
  if (kind !== expected) throw invalidField('kind', `only an ${expected} request can be ${doneTo[expected]}`)
}

const doneTo = { access: 'closed as answered', erasure: 'erased' } as const

function requireState(request: PrivacyRequest, states: readonly PrivacyRequestState[]): void {
  if (!states.includes(request.state)) throw wrongState(request)
}

/** The error of a change that a request in this state does not allow. */
export function wrongState(request: PrivacyRequest): LetheError {
  const is = isClosed(request) ? 'closed' : 'in progress'
  return invalidField('state', `this request is ${is} (${request.state}); nothing was changed`)
}
