import { commandLine, type Origin } from '../../domain/activity.ts'
import { notFound } from '../../domain/errors.ts'
import type { Clock } from '../../domain/instant.ts'
import { checkName } from '../../domain/name.ts'
import { Problems } from '../../domain/problems.ts'
import type { Randomness } from '../../domain/randomness.ts'
import type { Tracker, TrackerStore } from '../../domain/tracker.ts'
import { activityNote } from '../activity/activity-note.ts'
import { maxNameLength } from '../organisation/create-organisation.ts'
import { requireTracker } from './require-tracker.ts'

/** Gives a tracker another name; its id stays. `validation_error` for a name that will not do, `not_found` when it is not visible. */
export async function renameTracker(
  deps: { trackers: TrackerStore; clock: Clock; randomness: Randomness },
  id: string,
  name: string,
  origin: Origin = commandLine,
): Promise<Tracker> {
  const problems = new Problems()
  checkName(name, maxNameLength, problems)
  problems.throwIfAny()
  const tracker = await requireTracker(deps, id, origin)
  if (tracker.name === name) return tracker
  const { organisationId } = tracker
  const target = `${id}: ${tracker.name} → ${name}`
  const note = activityNote(deps, origin, { organisationId, kind: 'tracker.renamed', target })
  const isRenamed = await deps.trackers.rename({ organisationId, trackerId: id }, name, note)
  if (!isRenamed) throw notFound('This tracker')
  return { ...tracker, name }
}
