import type { Origin } from '../../domain/activity.ts'
import type { Clock } from '../../domain/instant.ts'
import {
  checkEmail,
  invitationMs,
  type Member,
  type MemberStore,
  normaliseEmail,
} from '../../domain/member.ts'
import type { OrganisationStore } from '../../domain/organisation.ts'
import { Problems } from '../../domain/problems.ts'
import type { Randomness } from '../../domain/randomness.ts'
import { createToken, hashToken } from '../../domain/token.ts'
import { activityNote } from '../activity/activity-note.ts'
import { requireOrganisation } from '../organisation/require-organisation.ts'
import { type Invited, issueLink } from './issue-link.ts'

export interface InvitationDeps {
  organisations: OrganisationStore
  members: MemberStore
  clock: Clock
  randomness: Randomness
}

/**
 * Makes somebody a member, with a link to set a password. Whoever has not used theirs yet gets a new one. `validation_error` when the
 * address will not do or its member has a password; `not_found` without the organisation.
 */
export async function inviteMember(
  deps: InvitationDeps,
  { organisationId, email: typed }: { organisationId: string; email: string },
  origin: Origin,
): Promise<Invited> {
  const email = normaliseEmail(typed)
  const problems = new Problems()
  checkEmail(email, problems)
  problems.throwIfAny()
  await requireOrganisation(deps, organisationId)
  const known = await deps.members.findByEmail(email, organisationId)
  if (known?.member.passwordSetAt === null) return issueLink(deps, known.member, origin)

  const token = createToken(deps.randomness)
  const createdAt = deps.clock()
  const member: Member = {
    id: `mem_${deps.randomness.base62(16)}`,
    organisationId,
    email,
    createdAt,
    passwordSetAt: null,
  }
  const invitation = { tokenHash: hashToken(token), expiresAt: createdAt + invitationMs }
  const note = activityNote(deps, origin, { organisationId, kind: 'member.invited', target: email })
  if (known || !(await deps.members.create(member, invitation, note))) {
    // Where it was deleted meanwhile, that is why.
    await requireOrganisation(deps, organisationId)
    problems.add('email', `${email} is a member already`)
    problems.throwIfAny()
  }
  return { member, token, expiresAt: invitation.expiresAt }
}
