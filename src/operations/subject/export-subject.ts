import type { ActivityStore, Origin } from '../../domain/activity.ts'
import { notFound } from '../../domain/errors.ts'
import type { Clock } from '../../domain/instant.ts'
import type { Randomness } from '../../domain/randomness.ts'
import type { SubjectCounts } from '../../domain/subject-counts.ts'
import type { ExportStore, TakePart } from '../../domain/subject-export.ts'
import type { TrackerView } from '../../domain/tracker.ts'
import { withoutSubject } from '../../domain/without-subject.ts'
import { activityNote } from '../activity/activity-note.ts'

/**
 * Hands over all that is stored about a subject, of one moment, part by part, which is noted in the activity before anything is handed
 * over. `not_found` when it is not there for the organisation. Whatever it throws later, the export is not complete.
 */
export async function exportSubject(
  deps: { exports: ExportStore; activity: ActivityStore; clock: Clock; randomness: Randomness },
  tracker: TrackerView,
  subjectId: string,
  origin: Origin,
  take: TakePart,
): Promise<void> {
  const requestId = origin.requestId && withoutSubject(origin.requestId, subjectId)
  const { organisationId, trackerId } = tracker
  const what = { organisationId, kind: 'subject.exported', target: trackerId } as const
  let promised: SubjectCounts | null = null
  const handedOver: SubjectCounts = { sessions: 0, events: 0 }
  const isThere = await deps.exports.subject(tracker, subjectId, async (part) => {
    if (part.kind === 'record') {
      promised = part.record.counts
      await deps.activity.add(activityNote(deps, { ...origin, requestId }, what))
    } else handedOver[part.kind] += part.rows.length
    await take(part)
  })
  if (!isThere) throw notFound('This data subject')
  requireWhole(promised, handedOver)
}

/** A store that shows another moment half way must not pass for one that shows all. */
function requireWhole(promised: SubjectCounts | null, { sessions, events }: SubjectCounts): void {
  if (promised?.sessions === sessions && promised.events === events) return
  throw new Error('The export of a data subject holds other than its record says.')
}
