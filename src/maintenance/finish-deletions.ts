import { setImmediate as nextTurn } from 'node:timers/promises'
import type { DeletionStore } from '../domain/deletion.ts'
import type { SweptCounts } from '../domain/retention.ts'
import type { Tracker } from '../domain/tracker.ts'

export interface RemovalOptions {
  /** Which of the trackers that were deleted; all of them unless told. */
  isMeant?(tracker: Tracker): boolean
  /** Told after every step what was removed so far. */
  onProgress?(removed: SweptCounts): void
  /** Ends it early, between two steps. */
  signal?: AbortSignal
}

/** How many rows share a transaction: few enough that an erasure that comes meanwhile hardly waits. */
const rowsPerStep = 5_000

/**
 * Removes what trackers hold that were deleted, in small steps, and tells how much. Several processes may do it at the same time: each
 * then tells of its part.
 */
export async function finishDeletions(
  { deletions }: { deletions: DeletionStore },
  { isMeant = () => true, onProgress, signal }: RemovalOptions = {},
): Promise<SweptCounts> {
  const total = { subjects: 0, sessions: 0, events: 0 }
  for (const tracker of (await deletions.listTrackers()).filter(isMeant)) {
    for (let isDone = false; !isDone && !signal?.aborted; ) {
      const step = await deletions.removeTracker(tracker.id, rowsPerStep)
      isDone = step.isDone
      total.subjects += step.subjects
      total.sessions += step.sessions
      total.events += step.events
      onProgress?.({ ...total })
      await nextTurn()
    }
  }
  return total
}
