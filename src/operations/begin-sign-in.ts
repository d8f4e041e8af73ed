import type { Origin } from '../domain/activity.ts'
import type { Clock, Instant } from '../domain/instant.ts'
import type { Member } from '../domain/member.ts'
import type { Randomness } from '../domain/randomness.ts'
import type { SignInStore } from '../domain/sign-in.ts'
import { createToken, hashToken } from '../domain/token.ts'
import { activityNote } from './activity-note.ts'

/** The token for the browser of a member who has proved to be one; `null` when the password has changed or the member gone since. */
export async function beginSignIn(
  parts: { signIns: SignInStore; clock: Clock; randomness: Randomness },
  { id, organisationId, email }: Member,
  passwordSetAt: Instant,
  requestId: string,
): Promise<string | null> {
  const now = parts.clock()
  const token = createToken(parts.randomness)
  const origin: Origin = { actor: { kind: 'member', id, name: email }, requestId, organisationId }
  const note = activityNote(parts, origin, { organisationId, kind: 'member.signed-in', target: null })
  const signIn = { tokenHash: hashToken(token), memberId: id, startedAt: now, lastSeenAt: now }
  return (await parts.signIns.begin(signIn, passwordSetAt, note)) ? token : null
}
