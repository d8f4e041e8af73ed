import { LetheError } from '../../domain/errors.ts'
import { type Member, type MemberStore, normaliseEmail } from '../../domain/member.ts'
import type { OrganisationStore } from '../../domain/organisation.ts'
import { requireOrganisation } from '../organisation/require-organisation.ts'

/** The member of an organisation that an operator named, by its id or its address. `not_found` when there is none. */
export async function requireMember(
  deps: { organisations: OrganisationStore; members: MemberStore },
  organisationId: string,
  idOrEmail: string,
): Promise<Member> {
  await requireOrganisation(deps, organisationId)
  // An address has an at sign, an id has none.
  const member = idOrEmail.includes('@')
    ? (await deps.members.findByEmail(normaliseEmail(idOrEmail), organisationId))?.member
    : await deps.members.find(organisationId, idOrEmail)
  if (!member) throw new LetheError('not_found', `There is no member ${idOrEmail} in "${organisationId}".`)
  return member
}
