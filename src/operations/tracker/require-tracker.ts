import { commandLine, type Origin } from '../../domain/activity.ts'
import { LetheError, notFound } from '../../domain/errors.ts'
import type { Tracker, TrackerStore } from '../../domain/tracker.ts'

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
