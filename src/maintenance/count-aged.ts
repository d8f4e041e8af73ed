import type { Instant } from '../domain/instant.ts'
import type { RetentionStore } from '../domain/retention.ts'
import type { TrackerStore } from '../domain/tracker.ts'
import { type SweptTotals, sweptNothing } from './sweep-aged.ts'

/** How much of an organisation lies outside of windows that begin then; `null` for one that is not asked for. */
export async function countAged(
  { trackers, retention }: { trackers: TrackerStore; retention: RetentionStore },
  organisationId: string,
  starts: { visitors: Instant | null; activity: Instant | null },
): Promise<SweptTotals> {
  const total = sweptNothing()
  if (starts.visitors !== null) {
    for (const { id } of await trackers.list(organisationId)) {
      const { subjects, sessions, events } = await retention.countBefore(id, starts.visitors)
      total.subjects += subjects
      total.sessions += sessions
      total.events += events
    }
  }
  if (starts.activity !== null) {
    total.activity = await retention.countActivityBefore(organisationId, starts.activity)
  }
  return total
}
