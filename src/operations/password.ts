import type { Origin } from '../domain/activity.ts'
import { invalidField, LetheError, Problems } from '../domain/errors.ts'
import type { Clock } from '../domain/instant.ts'
import type { MemberStore } from '../domain/member.ts'
import { checkPassword, type Passwords, passwordWords } from '../domain/password.ts'
import { createToken, hashToken, type Randomness } from '../domain/randomness.ts'
import { markBrowser, type SignedIn, type SignedInBrowser } from '../domain/sign-in.ts'
import { activityNote } from './activity.ts'

interface PasswordDeps {
  members: MemberStore
  passwords: Passwords
  clock: Clock
  randomness: Randomness
  /** Counts an attempt. Rejects with `rate_limited` after too many. */
  countGuess(): Promise<void>
}

/**
 * Changes the password, ends all other sign-ins of the member, and gives this one a new token. Throws
 * `validation_error` if a password is not right, and `invalid_request` without a password.
 */
export async function changePassword(
  deps: PasswordDeps,
  { signIn, member, organisation }: SignedIn,
  { currentPassword, password }: { currentPassword: string; password: string },
  origin: Origin,
): Promise<SignedInBrowser> {
  const { id, organisationId, email, passwordSetAt } = member
  const problems = new Problems()
  checkPassword(password, passwordWords(email, organisation), problems)
  problems.throwIfAny()
  await deps.countGuess()
  const known = await deps.members.findByEmail(email, organisationId)
  if (known === null || known.passwordHash === null) {
    throw new LetheError('invalid_request', 'You have no password. Ask an admin for a link to set one.')
  }
  if (!(await deps.passwords.matches(currentPassword, known.passwordHash))) {
    throw invalidField('currentPassword', 'currentPassword is not right; try again')
  }
  const passwordHash = await deps.passwords.hash(password)
  const note = activityNote(deps, origin, { organisationId, kind: 'member.password-changed', target: null })
  const token = createToken(deps.randomness)
  const change = {
    memberId: id,
    passwordSetAt,
    passwordHash,
    ...{ from: signIn.tokenHash, to: hashToken(token) },
  }
  if (!(await deps.members.changePassword(change, note))) {
    throw new LetheError('invalid_request', 'The password was changed at the same time. Sign in again.')
  }
  const changed = { member: { ...member, passwordSetAt: note.at }, passwordHash }
  return { token, mark: markBrowser(deps.randomness.base62(22), changed) }
}
