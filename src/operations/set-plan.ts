import { LetheError } from '../domain/errors.ts'
import type { OrganisationStore } from '../domain/organisation.ts'
import { isPlan, plans } from '../domain/plan.ts'

/** Moves an organisation to another plan. */
export async function setPlan(
  { organisations }: { organisations: OrganisationStore },
  organisationId: string,
  plan: string,
): Promise<void> {
  if (!isPlan(plan)) {
    throw new LetheError('validation_error', 'Check plan: see details.', [
      { field: 'plan', message: `plan must be one of ${plans.join(', ')}` },
    ])
  }
  if (!(await organisations.setPlan(organisationId, plan))) {
    throw new LetheError('not_found', `There is no organisation "${organisationId}".`)
  }
}
