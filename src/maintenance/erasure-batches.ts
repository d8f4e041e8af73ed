import type { Actor } from '../domain/activity.ts'
import type { BudgetState } from '../domain/budget.ts'
import { type ErasureBatch, NotWaiting, type WaitingItem } from '../domain/erasure-batch.ts'
import { LetheError } from '../domain/errors.ts'
import type { Instant } from '../domain/instant.ts'
import type { MaybePromise } from '../domain/maybe-promise.ts'
import { startOfWindow, windowStart } from '../domain/retention.ts'
import type { Services } from '../domain/services.ts'
import type { OrganisationView } from '../domain/subject-search.ts'
import { activityNote } from '../operations/activity.ts'
import { eraseSubject } from '../operations/erase-subject.ts'
import { stopOpenBatches } from '../operations/erasure-batch.ts'
import { findPerson } from '../operations/find-person.ts'
import { type JobLoop, type JobTools, runJobs } from './job-loop.ts'

/** How long a batch runs before another one is served. */
const sliceMs = 2_000
/** When another process takes over after a crash: longer than a slice plus the erasure of a large subject. */
const leaseMs = 8_000
/** Batches that have not ended by then are stopped, so that no subject's ID waits forever. */
const maxDays = 30
/** How often to look for such batches. */
const overdueCheckMs = 3_600_000

export interface BatchOptions {
  paceMs: number
  /** Counts erasures of a person's batch against its starter's budget. Lists are limited by the pace only. */
  countErasure(actor: Actor): MaybePromise<Pick<BudgetState, 'granted' | 'resetsAt' | 'countedAt'>>
}

export interface BatchReports {
  onFinished(batch: ErasureBatch): void
  onError(error: unknown): void
}

/**
 * Runs the batches that members have started, at most one subject every `paceMs`. One process leases a batch
 * at a time. After a crash, another one continues: items are settled in the transaction of their erasure, so
 * none is lost or erased twice.
 */
export function runErasureBatches(
  deps: Services,
  { paceMs, countErasure }: BatchOptions,
  { onFinished, onError }: BatchReports,
): JobLoop {
  const { erasureBatches, clock } = deps
  const leaseOwner = deps.randomness.uuid()
  /** The last item counted, so that a failed erasure is not counted again. */
  let counted = ''
  let overdueCheckedAt = -overdueCheckMs
  return runJobs(work, onError)

  async function work(tools: JobTools): Promise<boolean> {
    if (performance.now() - overdueCheckedAt >= overdueCheckMs) {
      overdueCheckedAt = performance.now()
      await stopOpenBatches(deps, startOfWindow(maxDays, clock()), originOf)
    }
    const now = clock()
    // If the pace is slower than a slice, the store knows when the last step was.
    const steppedBefore = paceMs > sliceMs ? now - paceMs : now
    const batch = await erasureBatches.lease(leaseOwner, { now, until: now + leaseMs, steppedBefore })
    if (batch) await runSlice(batch, tools)
    return batch !== null
  }

  /** Runs a batch until its slice is over, it ends, or a member pauses or stops it. */
  async function runSlice(batch: ErasureBatch, { signal, pause }: JobTools): Promise<void> {
    const endsAt = performance.now() + sliceMs
    let resumesAt: Instant | null = null
    try {
      while (!signal.aborted && performance.now() < endsAt) {
        const begunAt = performance.now()
        const item = await erasureBatches.next(leaseOwner, batch.id)
        if (item === false) return
        if (item === null) {
          if (await isOver(batch)) return
          continue
        }
        resumesAt = await countItem(batch, item)
        if (resumesAt !== null) return
        await erase(batch, item)
        const nextAt = begunAt + paceMs
        if (nextAt > endsAt) return
        await pause(Math.max(0, nextAt - performance.now()))
      }
    } finally {
      await erasureBatches.release(leaseOwner, batch.id, clock(), resumesAt)
    }
  }

  /** When to resume if the starter's erasure budget is spent; `null` if it is not. */
  async function countItem({ id, kind, startedBy }: ErasureBatch, { position }: WaitingItem) {
    const item = `${id} ${position}`
    if (kind !== 'person' || counted === item) return null
    const { granted, resetsAt, countedAt } = await countErasure(startedBy)
    if (!granted) return clock() + (resetsAt - countedAt)
    counted = item
    return null
  }

  /**
   * Ends a batch in which no subject waits. A person's batch first searches again, once, and erases what
   * arrived meanwhile. Returns `false` if there is more to do.
   */
  async function isOver(batch: ErasureBatch): Promise<boolean> {
    const { id, person, checkedAt } = batch
    const view = person && (await viewOf(batch))
    if (!person || !view) {
      await finish(batch, null)
      return true
    }
    const { subjects, hidden } = await findPerson(deps, view, person)
    const found = [...subjects, ...hidden]
    if (checkedAt !== null || found.length === 0) await finish(batch, found.length)
    else if (await erasureBatches.extend(leaseOwner, id, found, clock())) return false
    return true
  }

  async function viewOf({ organisationId }: ErasureBatch): Promise<OrganisationView | null> {
    const organisation = await deps.organisations.find(organisationId)
    if (!organisation) return null
    return { organisationId, since: windowStart(deps.retentionDays, organisation.plan, clock()) }
  }

  async function erase(batch: ErasureBatch, { position, trackerId, subjectId }: WaitingItem): Promise<void> {
    const view = await viewOf(batch)
    if (!view) return
    const item = { batchId: batch.id, position }
    try {
      await eraseSubject(deps, { ...view, trackerId }, subjectId, originOf(batch), item)
    } catch (error) {
      // Paused, stopped, or erased by another process since it was read. The next item shows what to do.
      if (error instanceof NotWaiting) return
      if (!(error instanceof LetheError && error.code === 'not_found')) throw error
      await erasureBatches.markTrackerDeleted(batch.id, position)
    }
  }

  async function finish(batch: ErasureBatch, left: number | null): Promise<void> {
    const { id, organisationId } = batch
    const what = { organisationId, kind: 'batch.finished', target: id } as const
    await erasureBatches.finish(id, clock(), activityNote(deps, originOf(batch), what), left)
    const finished = await erasureBatches.find(organisationId, id)
    if (finished?.state === 'done') onFinished(finished)
  }
}

/** The member who started a batch is the actor of its erasures. */
function originOf({ startedBy, requestId, organisationId }: ErasureBatch) {
  return { actor: startedBy, requestId, organisationId }
}
