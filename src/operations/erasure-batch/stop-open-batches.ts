import type { Origin } from '../../domain/activity.ts'
import type { ErasureBatch } from '../../domain/erasure-batch.ts'
import type { Instant } from '../../domain/instant.ts'
import { type ChangeDeps, tryChange } from './change-batch.ts'

/** Stops the batches that were made before an instant and are not over, and tells how many. The ids of those who waited are gone then. */
export async function stopOpenBatches(
  deps: ChangeDeps,
  before: Instant,
  originOf: (batch: ErasureBatch) => Origin,
): Promise<number> {
  let stopped = 0
  for (;;) {
    const open = await deps.erasureBatches.listOverdue(before)
    if (open.length === 0) return stopped
    for (const batch of open) {
      // One that has ended meanwhile is not listed again.
      if (await tryChange(deps, batch, 'stop', originOf(batch))) stopped += 1
    }
  }
}
