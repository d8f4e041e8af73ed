import type { ActivityStore, Origin, SubjectCounts } from '../domain/activity.ts'
import { notFound } from '../domain/errors.ts'
import type { Clock } from '../domain/instant.ts'
import type { Randomness } from '../domain/randomness.ts'
import type { FairQueue, GiveWay } from '../domain/semaphore.ts'
import type { SubjectStore } from '../domain/subject.ts'
import type { ExportStore, TakePart } from '../domain/subject-export.ts'
import type { TrackerView } from '../domain/tracker.ts'
import { activityNote } from './activity.ts'
import { readSubject } from './subject.ts'

interface ExportDeps {
  subjects: SubjectStore
  exports: ExportStore
  activity: ActivityStore
  jobs: FairQueue
  clock: Clock
  randomness: Randomness
}

/** Aborting the signal cancels an export that waits for others. */
interface Taker {
  take: TakePart
  signal?: AbortSignal
}

/**
 * Passes a subject's data to `take`, part by part, from one snapshot, after recording the export in the
 * activity log. Throws `not_found` if the subject is not visible. If it throws later, the export is
 * incomplete.
 */
export async function exportSubject(
  deps: ExportDeps,
  tracker: TrackerView,
  subjectId: string,
  origin: Origin,
  { take, signal }: Taker,
): Promise<void> {
  const { organisationId, trackerId } = tracker
  const what = { organisationId, kind: 'subject.exported', target: trackerId } as const
  // Reports a missing subject without waiting in the queue.
  await readSubject(deps, tracker, subjectId)
  await deps.jobs.run(
    organisationId,
    async (giveWay) => {
      // Before the snapshot, because a write may wait longer than a snapshot may last.
      await deps.activity.add(activityNote(deps, origin, what))
      const isThere = await exportWhole(deps.exports, tracker, subjectId, take, giveWay)
      if (!isThere) throw notFound('This data subject')
    },
    signal,
  )
}

/**
 * Exports a subject, and throws if that was less or more than its record says, because the store has changed
 * to another snapshot. Returns `false` if the subject is not visible.
 */
export async function exportWhole(
  exports: ExportStore,
  tracker: TrackerView,
  subjectId: string,
  take: TakePart,
  giveWay: GiveWay,
): Promise<boolean> {
  let expected: SubjectCounts | null = null
  const exported: SubjectCounts = { sessions: 0, events: 0 }
  const count: TakePart = (part) => {
    if (part.kind === 'record') expected = part.record.counts
    else exported[part.kind] += part.rows.length
    return take(part)
  }
  const isThere = await exports.subject(tracker, subjectId, count, giveWay)
  if (isThere) requireWhole(expected, exported)
  return isThere
}

function requireWhole(expected: SubjectCounts | null, { sessions, events }: SubjectCounts): void {
  if (expected?.sessions === sessions && expected.events === events) return
  throw new Error('The export does not match the record of the data subject.')
}
