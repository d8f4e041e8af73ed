import { commandLine, type Origin } from '../../domain/activity.ts'
import type { DeletionStore } from '../../domain/deletion.ts'
import type { Clock } from '../../domain/instant.ts'
import { Problems } from '../../domain/problems.ts'
import type { Randomness } from '../../domain/randomness.ts'
import type { Tracker, TrackerStore } from '../../domain/tracker.ts'
import { activityNote } from '../activity/activity-note.ts'
import { requireTracker } from './require-tracker.ts'

export interface TrackerDeletionDeps {
  trackers: TrackerStore
  deletions: DeletionStore
  clock: Clock
  randomness: Randomness
}

/** Finds a tracker that was deleted and of which something is left. */
async function findRemaining({ deletions }: { deletions: DeletionStore }, id: string) {
  return (await deletions.listTrackers()).find((tracker) => tracker.id === id) ?? null
}

/** The tracker an operator wants to delete, or whose deletion broke off. `not_found` when there is none. */
export async function requireDeletableTracker(
  deps: Pick<TrackerDeletionDeps, 'trackers' | 'deletions'>,
  id: string,
): Promise<Tracker> {
  return (await findRemaining(deps, id)) ?? requireTracker(deps, id)
}

/**
 * Deletes a tracker: nobody sees it any more, and what it holds may be removed. `typedName` is its name as whoever deletes it typed
 * it: `validation_error` when it is not the tracker's. Nothing changes for one whose deletion broke off.
 */
export async function deleteTracker(
  deps: TrackerDeletionDeps,
  id: string,
  typedName: string,
  origin: Origin = commandLine,
): Promise<Tracker> {
  const remaining = await findRemaining(deps, id)
  const tracker = remaining ?? (await requireTracker(deps, id))
  const { name, organisationId } = tracker
  const problems = new Problems()
  if (typedName !== name)
    problems.add('name', 'the name typed is not the name of this tracker; nothing was deleted')
  problems.throwIfAny()
  if (remaining) return tracker
  const target = `${id}: ${name}`
  const note = activityNote(deps, origin, { organisationId, kind: 'tracker.deleted', target })
  const isDeleted = await deps.deletions.deleteTracker(
    { organisationId, trackerId: id },
    name,
    deps.clock(),
    note,
  )
  // Somebody has renamed or deleted it meanwhile.
  return isDeleted ? tracker : deleteTracker(deps, id, typedName, origin)
}
