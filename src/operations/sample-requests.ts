import { commandLine } from '../domain/activity.ts'
import { earliestInstant } from '../domain/instant.ts'
import type { PrivacyRequest } from '../domain/privacy-request.ts'
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

const dayMs = 86_400_000
/** Longer than the erasure of a person of the sample takes. */
const leaseMs = 60_000

interface SampleRequest {
  /** Only for those that the examples of the API use. */
  requestId?: string
  kind: WantedRequest['kind']
  name: string
  reference: string
  daysAgo: number
  /** Whether the member of the sample is in charge. */
  isAssigned?: boolean
  /** What has happened to it since. */
  change?(deps: Services, view: OrganisationView, requestId: string): Promise<unknown>
}

/**
 * In the order in which they were received. None is running: erasing a person of the sample takes
 * milliseconds.
 */
const samples: readonly SampleRequest[] = [
  { kind: 'erasure', name: 'nuno', reference: 'Ticket 1003', daysAgo: 62, change: erase },
  {
    ...{ kind: 'erasure', name: 'ines', reference: 'Ticket 1010', daysAgo: 50 },
    change: (deps, view, id) =>
      extendRequest(deps, view, id, 'The person also has orders, which other systems hold.', commandLine),
  },
  {
    ...{ requestId: '7d3f0c2e-58a1-4b6d-9e47-c1a5f2b8d603', kind: 'access' },
    ...{ name: 'hanna', reference: 'Ticket 1018', daysAgo: 35, isAssigned: true },
  },
  { kind: 'erasure', name: 'goran', reference: 'Ticket 1024', daysAgo: 26, isAssigned: true },
  {
    ...{ kind: 'access', name: 'lena', reference: 'Ticket 1027', daysAgo: 25 },
    change: (deps, view, id) =>
      rejectRequest(deps, view, id, 'The sender did not confirm that the address is theirs.', commandLine),
  },
  // Nobody with this name has visited the shop or the blog.
  { kind: 'erasure', name: 'viktor', reference: 'Ticket 1030', daysAgo: 20, change: erase },
  {
    ...{ kind: 'access', name: 'karim', reference: 'Ticket 1033', daysAgo: 16 },
    change: (deps, view, id) => closeRequest(deps, view, id, commandLine),
  },
  { kind: 'erasure', name: 'jonas', reference: 'Ticket 1036', daysAgo: 12, change: erase },
  {
    ...{ kind: 'erasure', name: 'marie', reference: 'Ticket 1038', daysAgo: 8 },
    change: (deps, view, id) => cancelRequest(deps, view, id, commandLine),
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
]

/** Requests in every state but `running`, most of them of people who have visited the shop and the blog. */
export async function createSampleRequests(
  deps: Services,
  organisationId: string,
  memberId: string,
): Promise<void> {
  const view = { organisationId, since: earliestInstant }
  for (const { requestId = null, kind, name, reference, daysAgo, isAssigned, change } of samples) {
    const person = { identifiers: [{ name: 'email', value: `${name}@example.com` }], subjects: [] }
    const receivedAt = deps.clock() - daysAgo * dayMs
    const { id } = await createRequest(
      deps,
      view,
      { requestId, kind, person, receivedAt, reference },
      commandLine,
    )
    if (isAssigned) await assignRequest(deps, organisationId, id, memberId, commandLine)
    await change?.(deps, view, id)
  }
}

/** Erases what a request finds, as the service does. If the service is faster, it finishes the request. */
async function erase(deps: Services, view: OrganisationView, requestId: string): Promise<void> {
  const request: PrivacyRequest = await startRequest(deps, view, requestId, commandLine)
  const leaseOwner = deps.randomness.uuid()
  const until = deps.clock() + leaseMs
  const lease = { now: deps.clock(), until, restsUntil: until, after: '' }
  if ((await deps.privacyRequests.lease(leaseOwner, lease)) === null) return
  for (;;) {
    const item = await deps.privacyRequests.next(leaseOwner, request)
    if (item === false) return
    if (item !== null) {
      const { trackerId, subjectId, position } = item
      await eraseSubject(deps, { ...view, trackerId }, subjectId, commandLine, { request, position })
    } else if ((await advanceRequest(deps, leaseOwner, view, request, commandLine)) !== 'continues') return
  }
}
