import type { Origin } from '../domain/activity.ts'
import { notFound } from '../domain/errors.ts'
import type { Clock } from '../domain/instant.ts'
import type { MemberStore } from '../domain/member.ts'
import type { Randomness } from '../domain/randomness.ts'
import type { SecondFactorStore } from '../domain/second-factor.ts'
import { activityNote } from './activity.ts'

/**
 * Removes a member's passkeys, authenticator app and recovery codes, for a member who has lost them, and ends
 * the member's sign-ins. The password stays. Throws `not_found` if there is no such member.
 */
export async function removeFactors(
  deps: { members: MemberStore; secondFactors: SecondFactorStore; clock: Clock; randomness: Randomness },
  { organisationId, memberId }: { organisationId: string; memberId: string },
  origin: Origin,
): Promise<void> {
  const member = await deps.members.find(organisationId, memberId)
  if (member === null) throw notFound('This member')
  const what = { organisationId, kind: 'member.factors-removed', target: member.email } as const
  const note = activityNote(deps, origin, what)
  if (!(await deps.secondFactors.removeAll(organisationId, memberId, note))) throw notFound('This member')
}
