import type { ActivityStore } from '../../domain/activity.ts'
import { LetheError } from '../../domain/errors.ts'
import type { Clock } from '../../domain/instant.ts'
import { readBrowserMark } from '../../domain/known-browser.ts'
import { type Member, type MemberStore, normaliseEmail } from '../../domain/member.ts'
import type { Passwords } from '../../domain/password.ts'
import type { Randomness } from '../../domain/randomness.ts'
import type { SignedInBrowser, SignInStore } from '../../domain/sign-in.ts'
import { activityNote } from '../activity/activity-note.ts'
import { beginSignIn } from './begin-sign-in.ts'

export interface Credentials {
  email: string
  password: string
  /** Only needed where several organisations know the address. */
  organisationId: string | null
  /** What the browser was given at an earlier sign-in. */
  browserMark: string | null
}

export interface SignInDeps {
  members: MemberStore
  signIns: SignInStore
  activity: ActivityStore
  passwords: Passwords
  clock: Clock
  randomness: Randomness
  /** Counts a guess, of a browser that the member is known to use or of a stranger. Rejects with `rate_limited` after too many. */
  countGuess(browserId: string | null): Promise<void>
}

/**
 * Signs a member in and hands back what the browser is given. `unauthorized` otherwise, with the same words and after the same work
 * whether the address is unknown, known to several organisations, without a password yet, or the password is wrong.
 */
export async function signIn(
  deps: SignInDeps,
  { email, password, organisationId, browserMark }: Credentials,
  requestId: string,
): Promise<SignedInBrowser> {
  const { member = null, passwordHash = null } =
    (await deps.members.findByEmail(normaliseEmail(email), organisationId)) ?? {}
  const known = member && passwordHash !== null ? { member, passwordHash } : null
  const browserId = known && browserMark !== null ? readBrowserMark(browserMark, known) : null
  await deps.countGuess(browserId)
  const isRight = await deps.passwords.matches(password, passwordHash)
  const passwordSetAt = member?.passwordSetAt ?? null
  const browser =
    known && isRight && passwordSetAt !== null
      ? await beginSignIn(deps, known, passwordSetAt, browserId, requestId)
      : null
  if (browser) return browser
  if (member) noteFailure(deps, member, requestId)
  throw new LetheError('unauthorized', 'The e-mail address or the password is not right.')
}

/** Not waited for: who guesses addresses must not learn from the time it takes which of them are members'. */
function noteFailure(deps: SignInDeps, { id, organisationId, email }: Member, requestId: string): void {
  const origin = { actor: { kind: 'member', id, name: email }, requestId, organisationId } as const
  const what = { organisationId, kind: 'member.sign-in-failed', target: null } as const
  deps.activity.add(activityNote(deps, origin, what)).catch(() => {})
}
