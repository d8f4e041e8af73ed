import type { Origin } from '../../domain/activity.ts'
import { notFound } from '../../domain/errors.ts'
import type { Clock, Instant } from '../../domain/instant.ts'
import { invitationMs, type Member, type MemberStore } from '../../domain/member.ts'
import type { Randomness } from '../../domain/randomness.ts'
import { createToken, hashToken } from '../../domain/token.ts'
import { activityNote } from '../activity/activity-note.ts'

/** A member with the token of a link to set a password: the one moment that the token can be seen. */
export interface Invited {
  member: Member
  token: string
  expiresAt: Instant
}

/** Gives a member a new link to set a password with; the one before is no good any more. `not_found` when the member is gone. */
export async function issueLink(
  deps: { members: MemberStore; clock: Clock; randomness: Randomness },
  member: Member,
  origin: Origin,
): Promise<Invited> {
  const { organisationId, email } = member
  const token = createToken(deps.randomness)
  const invitation = { tokenHash: hashToken(token), expiresAt: deps.clock() + invitationMs }
  const note = activityNote(deps, origin, { organisationId, kind: 'member.invited', target: email })
  if (!(await deps.members.invite(member.id, invitation, note))) throw notFound('This member')
  return { member, token, expiresAt: invitation.expiresAt }
}
