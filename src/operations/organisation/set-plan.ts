import { commandLine, type Origin } from '../../domain/activity.ts'
import { LetheError } from '../../domain/errors.ts'
import type { Clock } from '../../domain/instant.ts'
import type { OrganisationStore } from '../../domain/organisation.ts'
import { isPlan, plans } from '../../domain/plan.ts'
import type { Randomness } from '../../domain/randomness.ts'
import { activityNote } from '../activity/activity-note.ts'

/** Moves an organisation to another plan. */
export async function setPlan(
  deps: { organisations: OrganisationStore; clock: Clock; randomness: Randomness },
  organisationId: string,
  plan: string,
  origin: Origin = commandLine,
): Promise<void> {
  if (!isPlan(plan)) {
    throw new LetheError('validation_error', 'Check plan: see details.', [
      { field: 'plan', message: `plan must be one of ${plans.join(', ')}` },
    ])
  }
  const what = { organisationId, kind: 'organisation.plan-changed', target: plan } as const
  if (!(await deps.organisations.setPlan(organisationId, plan, activityNote(deps, origin, what)))) {
    throw new LetheError('not_found', `There is no organisation "${organisationId}".`)
  }
}
