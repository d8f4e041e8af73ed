import { LetheError } from '../domain/errors.ts'
import type { Clock } from '../domain/instant.ts'
import { type MemberStore, normaliseEmail } from '../domain/member.ts'
import type { Passwords } from '../domain/password.ts'
import type { Randomness } from '../domain/randomness.ts'
import type { SignInStore } from '../domain/sign-in.ts'
import { beginSignIn } from './begin-sign-in.ts'

export interface Credentials {
  email: string
  password: string
  /** Only needed where several organisations know the address. */
  organisationId: string | null
}

/**
 * Signs a member in and hands back the token for the browser. `unauthorized` otherwise, with the same words and after the same work
 * whether the address is unknown, known to several organisations, without a password yet, or the password is wrong.
 */
export async function signIn(
  parts: {
    members: MemberStore
    signIns: SignInStore
    passwords: Passwords
    clock: Clock
    randomness: Randomness
  },
  { email, password, organisationId }: Credentials,
  requestId: string,
): Promise<string> {
  const found = await parts.members.findByEmail(normaliseEmail(email), organisationId)
  const isRight = await parts.passwords.matches(password, found?.passwordHash ?? null)
  const passwordSetAt = found?.member.passwordSetAt ?? null
  const token =
    found && isRight && passwordSetAt !== null
      ? await beginSignIn(parts, found.member, passwordSetAt, requestId)
      : null
  if (token === null) throw new LetheError('unauthorized', 'The e-mail address or the password is not right.')
  return token
}
