import type { Origin } from '../../domain/activity.ts'
import { LetheError, notFound } from '../../domain/errors.ts'
import type { Clock } from '../../domain/instant.ts'
import type { MemberStore } from '../../domain/member.ts'
import type { Randomness } from '../../domain/randomness.ts'
import { activityNote } from '../activity/activity-note.ts'

/** Removes a member, whose sign-ins end. `not_found` when it is not there, `invalid_request` for the organisation's last one. */
export async function removeMember(
  deps: { members: MemberStore; clock: Clock; randomness: Randomness },
  { organisationId, memberId }: { organisationId: string; memberId: string },
  origin: Origin,
): Promise<void> {
  const member = await deps.members.find(organisationId, memberId)
  if (member === null) throw notFound('This member')
  const note = activityNote(deps, origin, { organisationId, kind: 'member.removed', target: member.email })
  const outcome = await deps.members.remove(organisationId, memberId, note)
  if (outcome === 'absent') throw notFound('This member')
  if (outcome === 'last') {
    throw new LetheError(
      'invalid_request',
      'The last member cannot be removed: nobody could sign in any more.',
    )
  }
}
