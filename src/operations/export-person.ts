import type { ActivityStore, Origin } from '../domain/activity.ts'
import type { Clock } from '../domain/instant.ts'
import type { SubjectRef } from '../domain/person.ts'
import type { Randomness } from '../domain/randomness.ts'
import type { FairQueue } from '../domain/semaphore.ts'
import type { ExportPart, ExportStore } from '../domain/subject-export.ts'
import type { OrganisationView } from '../domain/subject-search.ts'
import { activityNote } from './activity.ts'
import { exportWhole } from './export-subject.ts'

interface PersonExportDeps {
  exports: ExportStore
  activity: ActivityStore
  jobs: FairQueue
  clock: Clock
  randomness: Randomness
}

/** Whose data is exported, for which request. */
interface PersonExport {
  requestId: string
  subjects: readonly SubjectRef[]
}

/** Aborting the signal cancels an export that waits for others. If a method throws, the export ends. */
export interface PersonTaker {
  /** The parts of one subject follow each other. */
  take(subject: SubjectRef, part: ExportPart): Promise<void>
  /** Called after the last part of a subject. */
  finish(): Promise<void>
  signal?: AbortSignal
}

/**
 * Passes the visible data of a person to `taker`, subject by subject, each from one snapshot, after recording
 * the export in the activity log. Leaves out subjects that hold no data, or whose data has aged out: a copy
 * contains what reads show. If it throws, the export is incomplete.
 */
export async function exportPerson(
  deps: PersonExportDeps,
  view: OrganisationView,
  { requestId, subjects }: PersonExport,
  origin: Origin,
  taker: PersonTaker,
): Promise<void> {
  const { organisationId } = view
  const what = { organisationId, kind: 'request.exported', target: requestId } as const
  await deps.jobs.run(
    organisationId,
    async (giveWay) => {
      await deps.activity.add(activityNote(deps, origin, what))
      for (const subject of subjects) {
        taker.signal?.throwIfAborted()
        const { trackerId, subjectId } = subject
        const take = (part: ExportPart) => taker.take(subject, part)
        const isThere = await exportWhole(deps.exports, { ...view, trackerId }, subjectId, take, giveWay)
        if (isThere) await taker.finish()
        await giveWay()
      }
    },
    taker.signal,
  )
}
