import { commandLine, type Origin } from '../../domain/activity.ts'
import type { Clock } from '../../domain/instant.ts'
import { checkName } from '../../domain/name.ts'
import type { Organisation, OrganisationStore } from '../../domain/organisation.ts'
import { Problems } from '../../domain/problems.ts'
import type { Randomness } from '../../domain/randomness.ts'
import { activityNote } from '../activity/activity-note.ts'
import { maxNameLength } from './create-organisation.ts'
import { requireOrganisation } from './require-organisation.ts'

/** Gives an organisation another name; its id stays. `validation_error` for a name that will not do, `not_found` without it. */
export async function renameOrganisation(
  deps: { organisations: OrganisationStore; clock: Clock; randomness: Randomness },
  id: string,
  name: string,
  origin: Origin = commandLine,
): Promise<Organisation> {
  const problems = new Problems()
  checkName(name, maxNameLength, problems)
  problems.throwIfAny()
  const organisation = await requireOrganisation(deps, id)
  if (organisation.name === name) return organisation
  const target = `${organisation.name} → ${name}`
  const note = activityNote(deps, origin, { organisationId: id, kind: 'organisation.renamed', target })
  await deps.organisations.rename(id, name, note)
  return requireOrganisation(deps, id)
}
