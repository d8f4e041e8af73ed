import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Instant } from '../../domain/instant.ts'
import type { SubjectStore } from '../../domain/subject.ts'
import type { Tracker, TrackerStore } from '../../domain/tracker.ts'

/** How far subjects are counted: to here it takes well under a millisecond, however many there are. */
export const countedSubjects = 10_000

/** A tracker with how many subjects it has: from `countedSubjects` on, that many or more. */
export interface TrackerSummary extends Tracker {
  subjects: number
}

/** An organisation's trackers, oldest first, with the subjects seen since an instant. */
export async function listTrackers(
  { trackers, subjects }: { trackers: TrackerStore; subjects: SubjectStore },
  organisationId: string,
  since: Instant,
): Promise<TrackerSummary[]> {
  const summaries: TrackerSummary[] = []
  for (const tracker of await trackers.list(organisationId)) {
    // Each count is short, but there may be many: other requests must get their turn in between.
    await nextTurn()
    const view = { organisationId, trackerId: tracker.id, since }
    summaries.push({ ...tracker, subjects: (await subjects.count(view, countedSubjects)) ?? 0 })
  }
  return summaries
}
