import type { Clock } from '../domain/instant.ts'
import type { RetentionStore } from '../domain/retention.ts'
import type { RetentionPolicy } from '../domain/retention-window.ts'
import { keptTombstoneDays, type TombstoneStore } from '../domain/tombstone.ts'

const dayMs = 86_400_000
const rowsPerStep = 5_000

interface TombstoneDeps extends RetentionPolicy {
  retention: RetentionStore
  tombstones: TombstoneStore
  clock: Clock
}

/**
 * Deletes the tombstones that nothing needs any more: what they would refuse is too old for every window. The windows that the store
 * remembers count as well as those of today, so that a missing variable costs none.
 */
export async function sweepTombstones(deps: TombstoneDeps, isOver: () => boolean): Promise<void> {
  const { retention, tombstones, retentionDays, activityDays, tombstoneDays, clock } = deps
  const policy = { retentionDays, activityDays }
  const remembered = await retention.settleWindows({
    ...{ policy, now: clock(), rule: 'longer-only', kind: 'visitors' },
  })
  const windows = [...Object.values(retentionDays), ...remembered.map(({ window }) => window.days)]
  const days = keptTombstoneDays(windows, tombstoneDays)
  while (!isOver()) {
    const swept = await tombstones.sweep(clock() - days * dayMs, rowsPerStep)
    if (swept < rowsPerStep) return
  }
}
