import { commandLine, type Origin } from '../../domain/activity.ts'
import { checkIdentifier } from '../../domain/identifier.ts'
import type { Clock } from '../../domain/instant.ts'
import { checkName } from '../../domain/name.ts'
import type { OrganisationStore } from '../../domain/organisation.ts'
import { Problems } from '../../domain/problems.ts'
import type { Randomness } from '../../domain/randomness.ts'
import type { Tracker, TrackerStore } from '../../domain/tracker.ts'
import { activityNote } from '../activity/activity-note.ts'
import { maxNameLength } from '../organisation/create-organisation.ts'
import { requireOrganisation } from '../organisation/require-organisation.ts'

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
