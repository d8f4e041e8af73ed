import { notFound } from '../domain/errors.ts'
import { checkName } from '../domain/name.ts'
import { Problems } from '../domain/problems.ts'
import type { TrackerRef, TrackerStore } from '../domain/tracker.ts'
import { maxNameLength } from './create-organisation.ts'

/** Gives a tracker another name; its id stays. `validation_error` for a name that will not do, `not_found` when it is not visible. */
export async function renameTracker(
  { trackers }: { trackers: TrackerStore },
  tracker: TrackerRef,
  name: string,
): Promise<void> {
  const problems = new Problems()
  checkName(name, maxNameLength, problems)
  problems.throwIfAny()
  if (!(await trackers.rename(tracker, name))) throw notFound('This tracker')
}
