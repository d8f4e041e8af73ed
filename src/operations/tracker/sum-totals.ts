import type { DailySum, DailyTotalStore, Day } from '../../domain/daily-total.ts'
import { notFound } from '../../domain/errors.ts'
import type { TrackerRef } from '../../domain/tracker.ts'

/** How much happened on a tracker from one day to another, both included. `not_found` when it is not visible. */
export async function sumTotals(
  { dailyTotals }: { dailyTotals: DailyTotalStore },
  tracker: TrackerRef,
  from: Day,
  to: Day,
): Promise<DailySum[]> {
  const days = await dailyTotals.sum(tracker, from, to)
  if (days === null) throw notFound('This tracker')
  return days
}
