import type { Origin } from '../domain/activity.ts'
import { LetheError } from '../domain/errors.ts'
import type { Clock } from '../domain/instant.ts'
import type { Member } from '../domain/member.ts'
import type { Randomness } from '../domain/randomness.ts'
import type { SingleSignOnStore } from '../domain/single-sign-on.ts'
import { activityNote } from './activity.ts'

/**
 * Forgets the account with which a member signs in by single sign-on, and ends all sign-ins of the member.
 * Throws `invalid_request` if there is none.
 */
export async function disconnectMember(
  deps: { singleSignOn: SingleSignOnStore; clock: Clock; randomness: Randomness },
  { id, organisationId, email }: Member,
  origin: Origin,
): Promise<void> {
  const note = activityNote(deps, origin, { organisationId, kind: 'member.disconnected', target: email })
  if (!(await deps.singleSignOn.disconnect(organisationId, id, note))) {
    throw new LetheError('invalid_request', `${email} has not signed in by single sign-on.`)
  }
}
