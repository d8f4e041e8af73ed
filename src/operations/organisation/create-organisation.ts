import type { Clock } from '../../domain/instant.ts'
import { checkName } from '../../domain/name.ts'
import { checkOrganisationId, type Organisation, type OrganisationStore } from '../../domain/organisation.ts'
import { isPlan, plans } from '../../domain/plan.ts'
import { Problems } from '../../domain/problems.ts'
import type { Randomness } from '../../domain/randomness.ts'
import type { RetentionPolicy } from '../../domain/retention-window.ts'

export const maxNameLength = 128

/** Creates an organisation, on the plan `free` unless another is given. `validation_error` for what will not do, a taken id included. */
export async function createOrganisation(
  {
    organisations,
    retentionDays,
    activityDays,
    clock,
    randomness,
  }: RetentionPolicy & {
    organisations: OrganisationStore
    clock: Clock
    randomness: Randomness
  },
  { name, plan = 'free', id = `org_${randomness.base62(16)}` }: { name: string; plan?: string; id?: string },
): Promise<Organisation> {
  const problems = new Problems()
  checkName(name, maxNameLength, problems)
  checkOrganisationId(id, problems)
  if (!isPlan(plan)) problems.add('plan', `plan must be one of ${plans.join(', ')}`)
  problems.throwIfAny()
  const organisation: Organisation = { id, name, plan: isPlan(plan) ? plan : 'free', createdAt: clock() }
  // It has nothing yet that a window could be too short for.
  const windows = { visitors: retentionDays[organisation.plan], activity: activityDays }
  if (!(await organisations.create(organisation, windows))) {
    const isThere = (await organisations.find(id)) !== null
    problems.add(
      'id',
      isThere
        ? `there is an organisation "${id}" already`
        : `"${id}" was an organisation that was deleted, and its activity is kept under this id; take another`,
    )
  }
  problems.throwIfAny()
  return organisation
}
