import { LetheError } from '../../domain/errors.ts'
import type { Organisation, OrganisationStore } from '../../domain/organisation.ts'

/** The organisation an operator named. `not_found` when there is none. */
export async function requireOrganisation(
  { organisations }: { organisations: OrganisationStore },
  id: string,
): Promise<Organisation> {
  const organisation = await organisations.find(id)
  if (organisation === null) throw new LetheError('not_found', `There is no organisation "${id}".`)
  return organisation
}
