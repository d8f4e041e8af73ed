import { setImmediate as nextTurn } from 'node:timers/promises'
import { type DailyTotalStore, dayOf } from '../../domain/daily-total.ts'
import type { Instant } from '../../domain/instant.ts'
import { maxPageSize } from '../../domain/page.ts'
import type { SubjectPosition, SubjectStore } from '../../domain/subject.ts'
import type { SubjectCounts } from '../../domain/subject-counts.ts'
import type { TrackerStore, TrackerView } from '../../domain/tracker.ts'

/** What a shorter window would hide. */
export interface HiddenCounts {
  /** Data subjects of whom nothing would be left to see, counted up to `mostCounted`. */
  subjects: number
  hasMoreSubjects: boolean
  /** Sessions and events of those days by the daily totals, which also hold what was erased since: at most so many would be hidden. */
  atMost: SubjectCounts
}

/** Further than that is not counted: what it costs should not depend on how many there are. */
const mostCounted = 1_000

interface HiddenDeps {
  trackers: TrackerStore
  subjects: SubjectStore
  dailyTotals: DailyTotalStore
}

/** What a member sees now and would not see with a window that begins at `until`. Changes nothing. */
export async function countHidden(
  deps: HiddenDeps,
  view: { organisationId: string; since: Instant },
  until: Instant,
): Promise<HiddenCounts> {
  const hidden = { subjects: 0, hasMoreSubjects: false, atMost: { sessions: 0, events: 0 } }
  if (until <= view.since) return hidden
  for (const { id } of await deps.trackers.list(view.organisationId)) {
    const tracker = { ...view, trackerId: id }
    const sums = (await deps.dailyTotals.sum(tracker, dayOf(view.since), dayOf(until))) ?? []
    for (const { sessions, events } of sums) {
      hidden.atMost.sessions += sessions
      hidden.atMost.events += events
    }
    hidden.subjects += await countLastSeen(deps, tracker, until, mostCounted - hidden.subjects)
    await nextTurn()
  }
  return { ...hidden, hasMoreSubjects: hidden.subjects >= mostCounted }
}

/** How many subjects of a tracker were last seen before an instant, counted up to `most`. */
async function countLastSeen(
  { subjects }: HiddenDeps,
  tracker: TrackerView,
  lastSeenBefore: Instant,
  most: number,
): Promise<number> {
  let count = 0
  let after: SubjectPosition | null = null
  while (count < most) {
    const query = { sort: 'lastSeenAt', subjectIdPrefix: null, lastSeenAfter: null, lastSeenBefore } as const
    const limit = Math.min(maxPageSize, most - count)
    const page = await subjects.list(tracker, { ...query, limit, after })
    count += page?.rows.length ?? 0
    if (!page?.next) break
    after = page.next
  }
  return count
}
