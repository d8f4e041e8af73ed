import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../domain/instant.ts'
import type { OrganisationStore } from '../domain/organisation.ts'
import { type RetentionDays, windowStart } from '../domain/plan.ts'
import type { RetentionStore, SweptCounts } from '../domain/retention.ts'
import type { TrackerStore } from '../domain/tracker.ts'

export interface SweepParts {
  organisations: OrganisationStore
  trackers: TrackerStore
  retention: RetentionStore
  retentionDays: RetentionDays
  clock: Clock
}

export interface SweepOptions {
  /** Told after every step what was deleted so far. */
  onProgress?(swept: SweptCounts): void
  /** Ends the pass early, between two steps. */
  signal?: AbortSignal
}

/** How many rows share a transaction: few enough that an erasure that comes meanwhile hardly waits. */
const rowsPerStep = 5_000

/** Deletes everything that has aged out by now, in small steps, and tells what. To be run by one process at a time. */
export async function sweepAged(
  { organisations, trackers, retention, retentionDays, clock }: SweepParts,
  { onProgress, signal }: SweepOptions = {},
): Promise<SweptCounts> {
  const total = { subjects: 0, sessions: 0, events: 0 }
  for (const { id, plan } of await organisations.list()) {
    const since = windowStart(retentionDays, plan, clock())
    for (const tracker of await trackers.list(id)) {
      // Of many trackers most have nothing to sweep, which is known at once: requests must get their turn in between.
      await nextTurn()
      let isDone = signal?.aborted ?? false
      while (!isDone) {
        const swept = await retention.sweep(tracker.id, since, rowsPerStep)
        total.subjects += swept.subjects
        total.sessions += swept.sessions
        total.events += swept.events
        onProgress?.({ ...total })
        isDone = swept.isDone || (signal?.aborted ?? false)
      }
    }
  }
  return total
}
