import { setTimeout as delay } from 'node:timers/promises'
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
import { findPerson } from '../operations/erase-person.ts'
import { eraseSubject } from '../operations/erase-subject.ts'
import { stopOpenBatches } from '../operations/erasure-batch.ts'

/** How often it is looked for a batch that somebody has started. */
const idleMs = 1_000
/** For so long a batch goes on before another has its turn. */
const turnMs = 2_000
/** After so long another process takes over from one that has died: longer than a turn and the erasure of a large subject. */
const leaseMs = 8_000
/** A batch that is not over after so many days is stopped, so that nobody's id waits in it for ever. */
const mostDays = 30
/** How often it is looked for such. */
const lookMs = 3_600_000
/** How long it waits after a failure, at first and at most. */
const retryMs = { first: 1_000, most: 30_000 }

export interface BatchOptions {
  paceMs: number
  /** Counts an erasure of whoever started a batch of one person. Nobody counts those of a list, which has the pace alone. */
  countErasure(actor: Actor): MaybePromise<Pick<BudgetState, 'granted' | 'resetsAt' | 'countedAt'>>
}

export interface BatchRunner {
  /** Has it look for a batch now: somebody has started one. */
  wake(): void
  stop(): Promise<void>
}

export interface BatchReports {
  onFinished(batch: ErasureBatch): void
  onError(error: unknown): void
}

/**
 * Works on the batches that members have started, one subject after the other, no faster than one every `paceMs`. A batch is lent to one
 * process of a fleet at a time. What a process leaves behind that dies is gone on with: an item is settled in the transaction
 * of its erasure, so none is done twice or forgotten.
 */
export function runErasureBatches(
  deps: Services,
  { paceMs, countErasure }: BatchOptions,
  { onFinished, onError }: BatchReports,
): BatchRunner {
  const { erasureBatches, clock } = deps
  const leaseOwner = deps.randomness.uuid()
  const stopping = new AbortController()
  const { signal } = stopping
  /** The item that was counted last: one whose erasure failed is not counted again. */
  let counted = ''
  let idle = new AbortController()
  const running = run()

  async function run(): Promise<void> {
    let failures = 0
    let lookedAt = -lookMs
    while (!signal.aborted) {
      try {
        if (performance.now() - lookedAt >= lookMs) {
          lookedAt = performance.now()
          await stopOpenBatches(deps, startOfWindow(mostDays, clock()), originOf)
        }
        idle = new AbortController()
        const now = clock()
        // Where a step is due less often than once a turn, it is the store that knows when the last one was.
        const steppedBefore = paceMs > turnMs ? now - paceMs : now
        const batch = await erasureBatches.lease(leaseOwner, { now, until: now + leaseMs, steppedBefore })
        if (batch) await takeTurn(batch)
        else await pause(idleMs, idle.signal)
        failures = 0
      } catch (error) {
        onError(error)
        await pause(Math.min(retryMs.first * 2 ** failures++, retryMs.most))
      }
    }
  }

  /** Goes on with a batch until its turn is over, it is, or somebody pauses or stops it. */
  async function takeTurn(batch: ErasureBatch): Promise<void> {
    const endsAt = performance.now() + turnMs
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

  /** When to go on, where whoever started it has used up their erasures; `null` for now. */
  async function countItem({ id, kind, startedBy }: ErasureBatch, { position }: WaitingItem) {
    const item = `${id} ${position}`
    if (kind !== 'person' || counted === item) return null
    const { granted, resetsAt, countedAt } = await countErasure(startedBy)
    if (!granted) return clock() + (resetsAt - countedAt)
    counted = item
    return null
  }

  /**
   * Ends a batch in which nobody waits. That of a person looks for them once more before: what came in meanwhile is erased too, and what
   * came in after that is told of. `false` when there is more to do.
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
      // Paused, stopped, or erased by another process since it was read: what is to be done, the next item tells.
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

  /** Ends early when the service stops, or somebody else wants it to. */
  async function pause(ms: number, other = signal): Promise<void> {
    await delay(ms, undefined, { signal: AbortSignal.any([signal, other]), ref: false }).catch(() => {})
  }

  return {
    wake: () => idle.abort(),
    async stop() {
      stopping.abort()
      await running
    },
  }
}

/** What a batch does, the member does who started it. */
function originOf({ startedBy, requestId, organisationId }: ErasureBatch) {
  return { actor: startedBy, requestId, organisationId }
}
