import type { Clock } from '../../domain/instant.ts'
import type { MemberStore } from '../../domain/member.ts'
import { checkPassword, type Passwords } from '../../domain/password.ts'
import { Problems } from '../../domain/problems.ts'
import type { Randomness } from '../../domain/randomness.ts'
import type { SignedInBrowser, SignInStore } from '../../domain/sign-in.ts'
import { hashToken } from '../../domain/token.ts'
import { activityNote } from '../activity/activity-note.ts'
import { beginSignIn } from './begin-sign-in.ts'
import { linkNoGood, requireInvited } from './require-invited.ts'

/**
 * Sets a password with a link, which is used up, ends every other sign-in of the member and signs in. Hands back what the browser
 * is given. `not_found` for a link that is no good, `validation_error` for a password that will not do.
 */
export async function acceptInvitation(
  deps: {
    members: MemberStore
    signIns: SignInStore
    passwords: Passwords
    clock: Clock
    randomness: Randomness
  },
  { token, password }: { token: string; password: string },
  requestId: string,
): Promise<SignedInBrowser> {
  const member = await requireInvited(deps, token)
  const problems = new Problems()
  checkPassword(password, problems)
  problems.throwIfAny()
  const hash = await deps.passwords.hash(password)
  const { id, organisationId, email } = member
  const origin = { actor: { kind: 'member', id, name: email }, requestId, organisationId } as const
  const note = activityNote(deps, origin, { organisationId, kind: 'member.joined', target: null })
  if (!(await deps.members.setPassword(hashToken(token), hash, note.at, note))) throw linkNoGood()
  const browser = await beginSignIn(deps, { member, passwordHash: hash }, note.at, null, requestId)
  if (browser === null) throw linkNoGood()
  return browser
}
