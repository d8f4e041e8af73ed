import { commandLine, type Origin } from '../../domain/activity.ts'
import type { DeletionStore } from '../../domain/deletion.ts'
import type { Clock } from '../../domain/instant.ts'
import type { Organisation, OrganisationStore } from '../../domain/organisation.ts'
import { Problems } from '../../domain/problems.ts'
import type { Randomness } from '../../domain/randomness.ts'
import { activityNote } from '../activity/activity-note.ts'
import { requireOrganisation } from './require-organisation.ts'

export interface OrganisationDeletionDeps {
  organisations: OrganisationStore
  deletions: DeletionStore
  clock: Clock
  randomness: Randomness
}

/** Finds an organisation that was deleted and of whose trackers something is left. */
async function findRemaining({ deletions }: { deletions: DeletionStore }, id: string) {
  const isLeft = (await deletions.listTrackers()).some(({ organisationId }) => organisationId === id)
  if (!isLeft) return null
  return (await deletions.listOrganisations()).find((organisation) => organisation.id === id) ?? null
}

/** The organisation an operator wants to delete, or whose deletion broke off. `not_found` when there is none. */
export async function requireDeletableOrganisation(
  deps: Pick<OrganisationDeletionDeps, 'organisations' | 'deletions'>,
  id: string,
): Promise<Organisation> {
  return (await findRemaining(deps, id)) ?? requireOrganisation(deps, id)
}

/**
 * Deletes an organisation with its keys, members and trackers, whose data may then be removed. `typedName` is its name as whoever
 * deletes it typed it: `validation_error` when it is not the organisation's. Nothing changes for one whose deletion broke off.
 */
export async function deleteOrganisation(
  deps: OrganisationDeletionDeps,
  id: string,
  typedName: string,
  origin: Origin = commandLine,
): Promise<Organisation> {
  const remaining = await findRemaining(deps, id)
  const organisation = remaining ?? (await requireOrganisation(deps, id))
  const { name } = organisation
  const problems = new Problems()
  if (typedName !== name)
    problems.add('name', 'the name typed is not the name of this organisation; nothing was deleted')
  problems.throwIfAny()
  if (remaining) return organisation
  const what = { organisationId: id, kind: 'organisation.deleted', target: `${id}: ${name}` } as const
  const note = activityNote(deps, origin, what)
  const isDeleted = await deps.deletions.deleteOrganisation(id, name, deps.clock(), note)
  // Somebody has renamed or deleted it meanwhile.
  return isDeleted ? organisation : deleteOrganisation(deps, id, typedName, origin)
}
