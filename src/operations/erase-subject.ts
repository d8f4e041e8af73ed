import { notFound } from '../domain/errors.ts'
import type { Clock, Instant } from '../domain/instant.ts'
import type { SubjectCounts, SubjectStore } from '../domain/subject.ts'
import type { TrackerView } from '../domain/tracker.ts'

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
  { subjects, clock }: { subjects: SubjectStore; clock: Clock },
  tracker: TrackerView,
  subjectId: string,
): Promise<Erasure> {
  const counts = await subjects.erase(tracker, subjectId)
  if (counts === null) throw notFound('This tracker')
  return { alreadyErased: counts.sessions === 0 && counts.events === 0, counts, erasedAt: clock() }
}
