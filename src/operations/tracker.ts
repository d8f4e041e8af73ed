import { setImmediate as nextTurn } from 'node:timers/promises'
import { commandLine, type Origin } from '../domain/activity.ts'
import type { DeletionStore } from '../domain/deletion.ts'
import { LetheError, notFound, Problems } from '../domain/errors.ts'
import { checkIdentifier } from '../domain/identifier.ts'
import type { Clock, Instant } from '../domain/instant.ts'
import { checkName, type OrganisationStore, requireTypedName } from '../domain/organisation.ts'
import type { Randomness } from '../domain/randomness.ts'
import type { SubjectStore } from '../domain/subject.ts'
import type { Tracker, TrackerStore } from '../domain/tracker.ts'
import { activityNote } from './activity.ts'
import { maxNameLength, requireOrganisation } from './organisation.ts'

/** Throws `validation_error` for invalid values or a taken ID, and `not_found` without the organisation. */
export async function createTracker(
  deps: { organisations: OrganisationStore; trackers: TrackerStore; clock: Clock; randomness: Randomness },
  {
    organisationId,
    name,
    id = `trk_${deps.randomness.base62(16)}`,
  }: { organisationId: string; name: string; id?: string },
  origin: Origin = commandLine,
): Promise<Tracker> {
  const problems = new Problems()
  checkName(name, maxNameLength, problems)
  checkIdentifier('id', id, problems)
  problems.throwIfAny()
  await requireOrganisation(deps, organisationId)
  const tracker: Tracker = { id, organisationId, name, createdAt: deps.clock() }
  const note = activityNote(deps, origin, { organisationId, kind: 'tracker.created', target: id })
  if (!(await deps.trackers.create(tracker, note))) {
    // The organisation may have been deleted meanwhile.
    await requireOrganisation(deps, organisationId)
    const isThere = (await deps.trackers.find(id)) !== null
    const removed = `the tracker "${id}" was deleted and is still being removed`
    problems.add('id', isThere ? `a tracker "${id}" already exists` : removed)
  }
  problems.throwIfAny()
  return tracker
}

/** Counting further would take more than a millisecond. */
export const countedSubjects = 10_000

/** `subjects` is at most `countedSubjects`. */
interface TrackerSummary extends Tracker {
  subjects: number
}

/** Oldest first, with the number of subjects seen since an instant. */
export async function listTrackers(
  { trackers, subjects }: { trackers: TrackerStore; subjects: SubjectStore },
  organisationId: string,
  since: Instant,
): Promise<TrackerSummary[]> {
  const summaries: TrackerSummary[] = []
  for (const tracker of await trackers.list(organisationId)) {
    // Yields to other requests, because there may be many trackers.
    await nextTurn()
    const view = { organisationId, trackerId: tracker.id, since }
    summaries.push({ ...tracker, subjects: (await subjects.count(view, countedSubjects)) ?? 0 })
  }
  return summaries
}

/** Throws `validation_error` if the name is invalid, and `not_found` if the tracker is not visible. */
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

interface TrackerDeletionDeps {
  trackers: TrackerStore
  deletions: DeletionStore
  clock: Clock
  randomness: Randomness
}

/** Finds a deleted tracker that is not completely removed yet. */
async function findRemaining({ deletions }: { deletions: DeletionStore }, id: string) {
  return (await deletions.listTrackers()).find((tracker) => tracker.id === id) ?? null
}

/** Includes a tracker whose deletion was interrupted. Throws `not_found` if there is none. */
export async function requireDeletableTracker(
  deps: Pick<TrackerDeletionDeps, 'trackers' | 'deletions'>,
  id: string,
): Promise<Tracker> {
  return (await findRemaining(deps, id)) ?? requireTracker(deps, id)
}

/**
 * Hides a tracker; its data is removed later. Throws `validation_error` unless `typedName` is its name.
 * Changes nothing if an earlier deletion was interrupted.
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
  requireTypedName(typedName, name, 'tracker', 'deleted')
  if (remaining) return tracker
  const target = `${id}: ${name}`
  const note = activityNote(deps, origin, { organisationId, kind: 'tracker.deleted', target })
  const isDeleted = await deps.deletions.deleteTracker(
    { organisationId, trackerId: id },
    name,
    deps.clock(),
    note,
  )
  // It was renamed or deleted meanwhile.
  return isDeleted ? tracker : deleteTracker(deps, id, typedName, origin)
}

/** Throws `not_found` if the tracker does not exist or belongs to another organisation. */
export async function requireTracker(
  { trackers }: { trackers: TrackerStore },
  id: string,
  { organisationId }: Origin = commandLine,
): Promise<Tracker> {
  const tracker = await trackers.find(id)
  if (organisationId !== null && tracker?.organisationId !== organisationId) throw notFound('This tracker')
  if (tracker === null) throw new LetheError('not_found', `There is no tracker "${id}".`)
  return tracker
}
