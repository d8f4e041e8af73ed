import { setImmediate as nextTurn } from 'node:timers/promises'
import { commandLine, type Origin } from '../domain/activity.ts'
import type { DeletionStore } from '../domain/deletion.ts'
import { LetheError, notFound, Problems } from '../domain/errors.ts'
import { checkIdentifier } from '../domain/identifier.ts'
import type { Clock, Instant } from '../domain/instant.ts'
import { checkName, type OrganisationStore } from '../domain/organisation.ts'
import type { Randomness } from '../domain/randomness.ts'
import type { SubjectStore } from '../domain/subject.ts'
import type { Tracker, TrackerStore } from '../domain/tracker.ts'
import { activityNote } from './activity.ts'
import { maxNameLength, requireOrganisation } from './organisation.ts'

/** Creates a tracker. `validation_error` for what will not do, a taken id included; `not_found` without the organisation. */
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
    // Where it was deleted meanwhile, that is why.
    await requireOrganisation(deps, organisationId)
    const isThere = (await deps.trackers.find(id)) !== null
    const removed = `the tracker "${id}" was deleted and is still being removed`
    problems.add('id', isThere ? `there is a tracker "${id}" already` : removed)
  }
  problems.throwIfAny()
  return tracker
}

/** How far subjects are counted: to here it takes well under a millisecond, however many there are. */
export const countedSubjects = 10_000

/** A tracker with how many subjects it has: from `countedSubjects` on, that many or more. */
interface TrackerSummary extends Tracker {
  subjects: number
}

/** An organisation's trackers, oldest first, with the subjects seen since an instant. */
export async function listTrackers(
  { trackers, subjects }: { trackers: TrackerStore; subjects: SubjectStore },
  organisationId: string,
  since: Instant,
): Promise<TrackerSummary[]> {
  const summaries: TrackerSummary[] = []
  for (const tracker of await trackers.list(organisationId)) {
    // Each count is short, but there may be many: other requests must get their turn in between.
    await nextTurn()
    const view = { organisationId, trackerId: tracker.id, since }
    summaries.push({ ...tracker, subjects: (await subjects.count(view, countedSubjects)) ?? 0 })
  }
  return summaries
}

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

interface TrackerDeletionDeps {
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

/** The tracker somebody named. `not_found` when there is none, or none within their reach. */
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
