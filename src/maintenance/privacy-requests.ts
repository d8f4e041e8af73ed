import type { Origin } from '../domain/activity.ts'
import type { BudgetState } from '../domain/budget.ts'
import { LetheError } from '../domain/errors.ts'
import type { Instant } from '../domain/instant.ts'
import type { MaybePromise } from '../domain/maybe-promise.ts'
import {
  NotWaiting,
  type PrivacyRequest,
  requestLeaseMs,
  type WaitingSubject,
} from '../domain/privacy-request.ts'
import { windowStart } from '../domain/retention.ts'
import type { Services } from '../domain/services.ts'
import type { OrganisationView } from '../domain/subject-search.ts'
import { advanceRequest } from '../operations/advance-privacy-request.ts'
import { eraseSubject } from '../operations/erase-subject.ts'
import { type JobLoop, type JobTools, runJobs } from './job-loop.ts'

/** How long a request runs before one of another organisation is served. */
const sliceMs = 500
/** When a request that failed runs again. Others continue meanwhile. */
const retryMs = 5_000

/** A request that was started with a key is limited by its budget; one that a member started, by the pace. */
interface RequestLimits {
  paceMs: number
  /** The longest that a request waits for a budget. */
  budgetWindowMs: number
  countErasure(keyId: string): MaybePromise<Pick<BudgetState, 'granted' | 'resetsAt' | 'countedAt'>>
}

export interface RequestReports {
  /** A request has run for a while. */
  onSlice?(request: PrivacyRequest, durationMs: number): void
  onFinished(request: PrivacyRequest): void
  onError(error: unknown): void
}

/** Why and until when a request does not run. */
interface Rest {
  runsAt: Instant
  isBudgetSpent: boolean
}

/**
 * Runs the erasures of privacy requests. One process leases a request at a time. After a crash, another one
 * continues: a subject is settled in the transaction of its erasure, so none is lost or erased twice.
 */
export function runPrivacyRequests(
  deps: Services,
  { paceMs, budgetWindowMs, countErasure }: RequestLimits,
  { onSlice, onFinished, onError }: RequestReports,
): JobLoop {
  const { privacyRequests, clock } = deps
  const leaseOwner = deps.randomness.uuid()
  const longestRestMs = Math.max(paceMs, budgetWindowMs, retryMs)
  /** The organisation that was served last. */
  let after = ''
  /** When the next subject is erased for a member. */
  let nextPacedAt = 0
  /** Subjects that were counted but not erased yet, so that a failed erasure is not counted again. */
  const counted = new Set<string>()
  return runJobs(work, onError)

  async function work(tools: JobTools): Promise<boolean> {
    const now = clock()
    const lease = {
      now,
      until: now + requestLeaseMs,
      restsUntil: now + requestLeaseMs + longestRestMs,
      after,
    }
    const request = await privacyRequests.lease(leaseOwner, lease)
    if (!request) return false
    after = request.organisationId
    const startedAt = performance.now()
    const rest = await runSlice(request, tools).catch((error): Rest => {
      onError(error)
      return { runsAt: clock() + retryMs, isBudgetSpent: false }
    })
    if (rest !== 'done')
      await privacyRequests.release(leaseOwner, request, rest ?? { runsAt: clock(), isBudgetSpent: false })
    onSlice?.(request, performance.now() - startedAt)
    return true
  }

  /** Runs a request until its slice is over, it ends, or it must wait. Its end has ended the lease. */
  async function runSlice(request: PrivacyRequest, tools: JobTools): Promise<Rest | 'done' | null> {
    const endsAt = performance.now() + sliceMs
    const view = await viewOf(request)
    while (view && !tools.signal.aborted && performance.now() < endsAt) {
      const item = await privacyRequests.next(leaseOwner, request)
      if (item === false) return null
      if (item === null) {
        const outcome = await advance(request, view)
        if (outcome === 'continues') continue
        return outcome === 'done' ? outcome : null
      }
      const rest = await untilAllowed(request, item, endsAt, tools)
      if (rest !== null) return rest
      if (!tools.signal.aborted) await erase(request, view, item)
    }
    return null
  }

  /** Resolves with `null` when a subject may be erased. */
  async function untilAllowed(
    request: PrivacyRequest,
    item: WaitingSubject,
    endsAt: number,
    { pause }: JobTools,
  ): Promise<Rest | null> {
    const { startedBy } = request
    if (startedBy?.kind === 'key') {
      const key = itemKey(request, item)
      if (counted.has(key)) return null
      const { granted, resetsAt, countedAt } = await countErasure(startedBy.id)
      if (!granted) return { runsAt: clock() + (resetsAt - countedAt), isBudgetSpent: true }
      counted.add(key)
      return null
    }
    const now = performance.now()
    if (nextPacedAt > endsAt) return { runsAt: clock() + Math.ceil(nextPacedAt - now), isBudgetSpent: false }
    if (nextPacedAt > now) await pause(nextPacedAt - now)
    nextPacedAt = Math.max(now, nextPacedAt) + paceMs
    return null
  }

  async function erase(request: PrivacyRequest, view: OrganisationView, item: WaitingSubject): Promise<void> {
    const { position, trackerId, subjectId } = item
    try {
      await eraseSubject(deps, { ...view, trackerId }, subjectId, originOf(request), { request, position })
    } catch (error) {
      if (error instanceof LetheError && error.code === 'not_found') {
        await privacyRequests.markTrackerDeleted(request, position)
      } else if (!(error instanceof NotWaiting)) throw error
      // Otherwise it was closed, or the subject erased otherwise, since it was read.
    }
    counted.delete(itemKey(request, item))
  }

  /** Searches again or ends a request in which no subject waits. */
  async function advance(request: PrivacyRequest, view: OrganisationView) {
    const outcome = await advanceRequest(deps, leaseOwner, view, request, originOf(request))
    const finished = outcome === 'done' ? await privacyRequests.find(request) : null
    if (finished) onFinished(finished)
    return outcome
  }

  async function viewOf({ organisationId }: PrivacyRequest): Promise<OrganisationView | null> {
    const organisation = await deps.organisations.find(organisationId)
    if (!organisation) return null
    return { organisationId, since: windowStart(deps.retentionDays, organisation.plan, clock()) }
  }
}

function itemKey({ organisationId, id }: PrivacyRequest, { position }: WaitingSubject): string {
  return `${organisationId} ${id} ${position}`
}

/** The erasures are recorded under the actor that started the request, even after its key was revoked. */
function originOf({ startedBy, requestId, organisationId }: PrivacyRequest): Origin {
  if (startedBy === null) throw new Error('A request runs although nobody started it.')
  return { actor: startedBy, requestId, organisationId }
}
