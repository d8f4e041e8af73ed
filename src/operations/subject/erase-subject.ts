import { commandLine, type Origin } from '../../domain/activity.ts'
import { notFound } from '../../domain/errors.ts'
import type { Clock, Instant } from '../../domain/instant.ts'
import type { Randomness } from '../../domain/randomness.ts'
import type { SubjectStore } from '../../domain/subject.ts'
import type { SubjectCounts } from '../../domain/subject-counts.ts'
import type { TrackerView } from '../../domain/tracker.ts'
import { withoutSubject } from '../../domain/without-subject.ts'
import { activityNote } from '../activity/activity-note.ts'

/** What one erasure request did. */
export interface Erasure {
  /** The subject held no data: erased before, aged out, or never seen. */
  alreadyErased: boolean
  /** What this request deleted. */
  counts: SubjectCounts
  erasedAt: Instant
}

/** Deletes all that is stored about a subject, for good. Safe to repeat. `not_found` when the tracker is not visible. */
export async function eraseSubject(
  deps: { subjects: SubjectStore; clock: Clock; randomness: Randomness },
  tracker: TrackerView,
  subjectId: string,
  origin: Origin = commandLine,
): Promise<Erasure> {
  const { organisationId, trackerId } = tracker
  const requestId = origin.requestId && withoutSubject(origin.requestId, subjectId)
  const what = { organisationId, kind: 'subject.erased', target: trackerId } as const
  const note = activityNote(deps, { ...origin, requestId }, what)
  const counts = await deps.subjects.erase(tracker, subjectId, note)
  if (counts === null) throw notFound('This tracker')
  return { alreadyErased: counts.sessions === 0 && counts.events === 0, counts, erasedAt: deps.clock() }
}
