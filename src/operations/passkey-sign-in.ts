import { LetheError } from '../domain/errors.ts'
import type { RelyingParty } from '../domain/passkey.ts'
import { createToken, hashToken } from '../domain/randomness.ts'
import type { SignedInBrowser, SignInSource, SignInStore } from '../domain/sign-in.ts'
import { challengeMs } from '../domain/sign-in-challenge.ts'
import {
  type AuthenticationResponse,
  challengeToken,
  checkAuthentication,
  type RequestOptions,
  requestOptions,
} from '../factors/passkey-ceremony.ts'
import { type FactorDeps, noteRefusal } from './second-factor.ts'
import { beginSignIn, originOfMember } from './sign-in.ts'

/** Asks for any passkey of this console: it says whose it is. */
export async function beginPasskeySignIn(
  { signInChallenges, clock, randomness }: FactorDeps,
  relyingParty: RelyingParty,
): Promise<RequestOptions> {
  const token = createToken(randomness)
  const createdAt = clock()
  await signInChallenges.create({
    ...{ tokenHash: hashToken(token), kind: 'passkey', memberId: null, data: 'null' },
    ...{ createdAt, expiresAt: createdAt + challengeMs },
  })
  return requestOptions(token, relyingParty, [])
}

interface PasskeySignInDeps extends FactorDeps {
  signIns: SignInStore
  /** Counts a wrong answer on the account of an address. Rejects with `rate_limited` after too many. */
  countGuess(email: string): Promise<void>
}

/**
 * Signs in with a passkey alone, which has verified its user by a PIN or biometrics. Throws `unauthorized`
 * with the same message whatever is wrong.
 */
export async function signInWithPasskey(
  deps: PasskeySignInDeps,
  response: AuthenticationResponse,
  relyingParty: RelyingParty,
  source: SignInSource,
): Promise<SignedInBrowser> {
  const token = challengeToken(response) ?? ''
  // Used up whether or not the response is right.
  const isCurrent = await deps.signInChallenges.take(hashToken(token), 'passkey', deps.clock())
  const found = isCurrent ? await deps.passkeys.find(response.id) : null
  if (found === null) throw refused()
  const { passkey, member, passwordHash } = found
  // Nobody was identified before, so the authenticator has to say whose passkey it is (WebAuthn, section 7.2).
  const namesMember = response.response.userHandle !== undefined
  const checked = namesMember ? await checkAuthentication(response, token, relyingParty, passkey) : null
  if (checked !== null && checked !== 'copied') {
    const proof = { kind: 'passkey', id: passkey.id, signCount: checked.signCount } as const
    const verified = { member, passwordHash, method: 'passkey', browserId: null } as const
    const browser = await beginSignIn(deps, verified, source, { challengeHash: null, proof })
    if (browser) return browser
  }
  // A right answer cannot be guessed, so that guesses of the password must not keep its owner out.
  await deps.countGuess(member.email)
  const origin = originOfMember(member, source.requestId)
  const copied = checked === 'copied' ? passkey : null
  noteRefusal(deps, member, { refused: 'passkey', copied }, 'member.sign-in-failed', origin)
  throw refused()
}

function refused(): LetheError {
  return new LetheError('unauthorized', 'This passkey was not accepted. Sign in another way.')
}
