import type { Clock } from '../domain/instant.ts'
import type { RetentionStore } from '../domain/retention.ts'
import type { OrganisationWindow, RetentionPolicy } from '../domain/retention-window.ts'

/** A window with a shorter one that waits. */
export interface WaitingWindow extends OrganisationWindow {
  window: { days: number; shorter: NonNullable<OrganisationWindow['window']['shorter']> }
}

/**
 * Tells the store how long this process keeps things, as every process must that deletes: one with a longer window then keeps the
 * others from deleting by a shorter one. Hands back the windows with a shorter one that waits.
 */
export async function observeWindows({
  retention,
  retentionDays,
  activityDays,
  clock,
}: RetentionPolicy & { retention: RetentionStore; clock: Clock }): Promise<WaitingWindow[]> {
  const policy = { retentionDays, activityDays }
  const windows = await retention.settleWindows({ policy, now: clock(), rule: 'grace' })
  return windows.flatMap(({ window: { days, shorter }, ...of }) =>
    shorter ? [{ ...of, window: { days, shorter } }] : [],
  )
}
