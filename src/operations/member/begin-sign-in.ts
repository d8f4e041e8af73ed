import type { Origin } from '../../domain/activity.ts'
import type { Clock, Instant } from '../../domain/instant.ts'
import { type MemberWithPassword, markBrowser } from '../../domain/known-browser.ts'
import type { Randomness } from '../../domain/randomness.ts'
import type { SignedInBrowser, SignInStore } from '../../domain/sign-in.ts'
import { createToken, hashToken } from '../../domain/token.ts'
import { activityNote } from '../activity/activity-note.ts'

/**
 * What the browser of a member who has proved to be one is given; one that is known stays the same. `null` when the password has
 * changed or the member gone since.
 */
export async function beginSignIn(
  deps: { signIns: SignInStore; clock: Clock; randomness: Randomness },
  known: MemberWithPassword,
  passwordSetAt: Instant,
  browserId: string | null,
  requestId: string,
): Promise<SignedInBrowser | null> {
  const { id, organisationId, email } = known.member
  const now = deps.clock()
  const token = createToken(deps.randomness)
  const origin: Origin = { actor: { kind: 'member', id, name: email }, requestId, organisationId }
  const note = activityNote(deps, origin, { organisationId, kind: 'member.signed-in', target: null })
  const signIn = { tokenHash: hashToken(token), memberId: id, startedAt: now, lastSeenAt: now }
  if (!(await deps.signIns.begin(signIn, passwordSetAt, note))) return null
  return { token, mark: markBrowser(browserId ?? deps.randomness.base62(22), known) }
}
