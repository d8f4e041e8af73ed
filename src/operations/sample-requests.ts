import { commandLine, type Origin } from '../domain/activity.ts'
import type { ApiKey } from '../domain/api-key.ts'
import { dayOf } from '../domain/daily-total.ts'
import { dayMs, earliestInstant } from '../domain/instant.ts'
import { NotWaiting, type PrivacyRequest, requestLeaseMs } from '../domain/privacy-request.ts'
import type { Services } from '../domain/services.ts'
import type { OrganisationView } from '../domain/subject-search.ts'
import { advanceRequest } from './advance-privacy-request.ts'
import {
  cancelRequest,
  closeRequest,
  extendRequest,
  rejectRequest,
  startRequest,
} from './change-privacy-request.ts'
import { createRequest, type WantedRequest } from './create-privacy-request.ts'
import { eraseSubject } from './erase-subject.ts'
import { assignRequest } from './request-handling.ts'

/** The default erasure budget of a key. */
const budget = { erasures: 60, windowMs: 3_600_000 }

interface SampleRequest {
  /** Only for those that the examples of the API use. */
  requestId?: string
  kind: WantedRequest['kind']
  name: string
  reference: string
  daysAgo: number
  /** Whether the member of the sample is in charge. */
  isAssigned?: boolean
  /** Whether it was created with the key of the sample. */
  isFromKey?: boolean
  /** What has happened to it since, through the same origin. */
  change?(deps: Services, view: OrganisationView, requestId: string, origin: Origin): Promise<unknown>
}

/** In the order in which they were received. */
const samples: readonly SampleRequest[] = [
  { kind: 'erasure', name: 'nuno', reference: 'Ticket 1003', daysAgo: 62, change: erase },
  {
    ...{ kind: 'erasure', name: 'ines', reference: 'Ticket 1010', daysAgo: 50 },
    change: (deps, view, id, origin) =>
      extendRequest(deps, view, id, 'The person also has orders, which other systems hold.', origin),
  },
  {
    ...{ requestId: '7d3f0c2e-58a1-4b6d-9e47-c1a5f2b8d603', kind: 'access' },
    ...{ name: 'hanna', reference: 'Ticket 1018', daysAgo: 35, isAssigned: true },
  },
  { kind: 'erasure', name: 'goran', reference: 'Ticket 1024', daysAgo: 26, isAssigned: true },
  {
    ...{ kind: 'access', name: 'lena', reference: 'Ticket 1027', daysAgo: 25 },
    change: (deps, view, id, origin) =>
      rejectRequest(deps, view, id, 'The sender did not confirm that the address is theirs.', origin),
  },
  // Nobody with this name has visited the shop or the blog.
  { kind: 'erasure', name: 'viktor', reference: 'Ticket 1030', daysAgo: 20, change: erase },
  {
    ...{ kind: 'access', name: 'karim', reference: 'Ticket 1033', daysAgo: 16 },
    change: closeRequest,
  },
  { kind: 'erasure', name: 'jonas', reference: 'Ticket 1036', daysAgo: 12, change: erase },
  {
    ...{ kind: 'erasure', name: 'marie', reference: 'Ticket 1038', daysAgo: 8 },
    change: cancelRequest,
  },
  {
    ...{ requestId: '1c5f0e37-92b4-4d68-8e0a-57a1c3d9f284', kind: 'erasure' },
    ...{ name: 'carlos', reference: 'Ticket 1042', daysAgo: 1 },
  },
  {
    ...{ requestId: '2d8a6b49-13c5-4e7f-a1b2-68b2d4eaf395', kind: 'erasure' },
    ...{ name: 'dora', reference: 'Ticket 1043', daysAgo: 1 },
  },
  {
    ...{ requestId: '3e9b7c5a-24d6-4f80-b2c3-79c3e5fb04a6', kind: 'access' },
    ...{ name: 'emil', reference: 'Ticket 1044', daysAgo: 1 },
  },
  {
    ...{ kind: 'erasure', name: 'paul', reference: 'Ticket 1045', daysAgo: 0, isFromKey: true },
    change: waitForBudget,
  },
]

/**
 * Requests in every state, most of them of people who have visited the shop and the blog. A member is in
 * charge of some, and one was sent with a key.
 */
export async function createSampleRequests(
  deps: Services,
  organisationId: string,
  memberId: string,
  key: ApiKey,
): Promise<void> {
  const view = { organisationId, since: earliestInstant }
  const ofKey = { ...commandLine, actor: { kind: 'key', id: key.id, name: key.name } } as const
  for (const { requestId = null, kind, name, reference, daysAgo, ...sample } of samples) {
    const person = { identifiers: [{ name: 'email', value: `${name}@example.com` }], subjects: [] }
    const receivedAt = deps.clock() - daysAgo * dayMs
    const wanted = { requestId, kind, person, receivedAt, reference }
    const origin = sample.isFromKey ? ofKey : commandLine
    const { id } = await createRequest(deps, view, wanted, origin)
    if (sample.isAssigned) await assignRequest(deps, organisationId, id, memberId, origin)
    await sample.change?.(deps, view, id, origin)
  }
  const sent = { requests: budget.erasures + 1, refusals: 0 }
  const now = deps.clock()
  await deps.apiKeys.touch(new Map([[key.id, now]]), [{ keyId: key.id, day: dayOf(now), ...sent }])
}

/** Erases what a request finds, as the service does. If the service is faster, it finishes the request. */
async function erase(
  deps: Services,
  view: OrganisationView,
  requestId: string,
  origin: Origin,
): Promise<void> {
  const { request, leaseOwner } = await startAndLease(deps, view, requestId, origin)
  for (;;) {
    const item = await deps.privacyRequests.next(leaseOwner, request)
    if (item === false) return
    if (item !== null) {
      const { trackerId, subjectId, position } = item
      const erasing = eraseSubject(deps, { ...view, trackerId }, subjectId, origin, { request, position })
      await erasing.catch((error) => {
        if (!(error instanceof NotWaiting)) throw error
      })
    } else if ((await advanceRequest(deps, leaseOwner, view, request, origin)) !== 'continues') return
  }
}

/**
 * Starts an erasure with a key that has spent its budget within this hour, as if the service had been
 * restarted since. Who is found waits; when the hour is over, the service erases them and ends the request.
 */
async function waitForBudget(
  deps: Services,
  view: OrganisationView,
  requestId: string,
  origin: Origin,
): Promise<void> {
  const { request, leaseOwner } = await startAndLease(deps, view, requestId, origin)
  await advanceRequest(deps, leaseOwner, view, request, origin)
  const rest = { runsAt: deps.clock() + budget.windowMs, isBudgetSpent: true }
  await deps.privacyRequests.release(leaseOwner, request, rest)
}

/** The lease is without effect if the service was faster. */
async function startAndLease(
  deps: Services,
  view: OrganisationView,
  requestId: string,
  origin: Origin,
): Promise<{ request: PrivacyRequest; leaseOwner: string }> {
  const request = await startRequest(deps, view, requestId, origin)
  const leaseOwner = deps.randomness.uuid()
  const now = deps.clock()
  const until = now + requestLeaseMs
  await deps.privacyRequests.lease(leaseOwner, { now, until, restsUntil: until, after: '' })
  return { request, leaseOwner }
}
