import type { ActivityStore, Origin, SubjectCounts } from '../domain/activity.ts'
import { notFound } from '../domain/errors.ts'
import type { Clock } from '../domain/instant.ts'
import type { Randomness } from '../domain/randomness.ts'
import type { FairQueue } from '../domain/semaphore.ts'
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

/** Who takes an export, part by part. Aborting the signal ends an export that waits for others. */
interface Taker {
  take: TakePart
  signal?: AbortSignal
}

/**
 * Hands over everything that is stored about a subject, from one snapshot, part by part. It is noted in the activity before anything is
 * handed over. `not_found` when the subject is not there for the organisation. Whatever it throws later, the export is not complete.
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
  // Whoever is told that nobody is there need not wait for that.
  await readSubject(deps, tracker, subjectId)
  await deps.jobs.run(
    organisationId,
    async (giveWay) => {
      // Before the snapshot: a write may have to wait, and no snapshot lasts that long.
      await deps.activity.add(activityNote(deps, origin, what))
      let promised: SubjectCounts | null = null
      const handedOver: SubjectCounts = { sessions: 0, events: 0 }
      const count: TakePart = (part) => {
        if (part.kind === 'record') promised = part.record.counts
        else handedOver[part.kind] += part.rows.length
        return take(part)
      }
      const isThere = await deps.exports.subject(tracker, subjectId, count, giveWay)
      if (!isThere) throw notFound('This data subject')
      requireWhole(promised, handedOver)
    },
    signal,
  )
}

/** A store that shows another moment half way must not pass for one that shows all. */
function requireWhole(promised: SubjectCounts | null, { sessions, events }: SubjectCounts): void {
  if (promised?.sessions === sessions && promised.events === events) return
  throw new Error('The export of a data subject holds other than its record says.')
}
