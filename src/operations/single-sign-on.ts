import type { Origin } from '../domain/activity.ts'
import { LetheError, notFound } from '../domain/errors.ts'
import type { Clock, Instant } from '../domain/instant.ts'
import type { Member } from '../domain/member.ts'
import { createToken, hashToken, type Randomness } from '../domain/randomness.ts'
import { recentSignInMs, type SignedIn, type SignInSource, type SignInStore } from '../domain/sign-in.ts'
import type { FoundChallenge } from '../domain/sign-in-challenge.ts'
import {
  type IdentityProvider,
  type ProviderIdentity,
  type RoundTrip,
  roundTripMs,
  type SingleSignOnStore,
} from '../domain/single-sign-on.ts'
import { activityNote } from './activity.ts'
import { type AdmissionDeps, admitByProvider } from './admit-by-provider.ts'
import { type FactorDeps, factorsOf, secondProofs } from './second-factor.ts'
import { continueSignIn, originOfMember, type SignInOutcome } from './sign-in.ts'

interface RoundTripStart {
  /** The page that the provider sends the browser back to. */
  redirectUri: string
  /** The token that the browser got at an earlier round trip. */
  browserToken: string | null
  /** `null` if the person has not chosen one. */
  organisationId?: string | null
  /** Whose identity is verified again; `null` to sign in. */
  signedIn?: SignedIn | null
}

/** What the challenge of a round trip keeps. */
interface Kept {
  /** The state comes back with the browser, and finds the challenge. */
  trip: Omit<RoundTrip, 'state'>
  organisationId: string | null
  /** The hash of the token of the sign-in whose member is verified; `null` to sign in. */
  verifying: string | null
}

/**
 * Sends a browser to the identity provider. Only a browser with the token can come back, which may have
 * several round trips under way. Throws `internal_error` if the provider cannot be reached, and `forbidden`
 * for a member to verify who has a second factor.
 */
export async function beginSingleSignOn(
  deps: FactorDeps & { provider: IdentityProvider },
  { redirectUri, browserToken, organisationId = null, signedIn = null }: RoundTripStart,
): Promise<{ address: string; browserToken: string }> {
  if (signedIn && (await hasSecondFactor(deps, signedIn.member))) throw needsSecondFactor()
  const begun = await deps.provider.begin(redirectUri, signedIn && recentSignInMs / 1_000)
  const { state, ...trip } = begun.trip
  const token = browserToken ?? createToken(deps.randomness)
  const kept: Kept = { trip, organisationId, verifying: signedIn?.signIn.tokenHash ?? null }
  const createdAt = deps.clock()
  const isCreated = await deps.signInChallenges.create({
    ...{ tokenHash: challengeHash(token, state), kind: 'single-sign-on' },
    ...{ memberId: signedIn?.member.id ?? null, data: JSON.stringify(kept) },
    ...{ createdAt, expiresAt: createdAt + roundTripMs },
  })
  if (!isCreated) throw notFound('This member')
  return { address: begun.address, browserToken: token }
}

function challengeHash(browserToken: string, state: string): string {
  return hashToken(`${browserToken} ${state}`)
}

interface FinishDeps extends AdmissionDeps, FactorDeps {
  provider: IdentityProvider
  signIns: SignInStore
}

/** Like `SignInOutcome`, or the organisations among which the person has to choose. */
type SingleSignOnOutcome = SignInOutcome | { organisations: { id: string; name: string }[] }

/**
 * Signs in the person with whom the browser came back, or verifies the member who was signed in. Throws
 * `invalid_request` if the round trip has expired, was finished, or began in another browser; `unauthorized`
 * or `internal_error` as the provider does; and `forbidden` if the person may not sign in.
 */
export async function finishSingleSignOn(
  deps: FinishDeps,
  { browserToken, query }: { browserToken: string | null; query: string },
  source: SignInSource,
): Promise<SingleSignOnOutcome> {
  const state = new URLSearchParams(query).get('state') ?? ''
  const tokenHash = challengeHash(browserToken ?? '', state)
  const now = deps.clock()
  const found = await deps.signInChallenges.find(tokenHash, 'single-sign-on', now)
  // Taken before the provider is asked, so that a code is presented once.
  if (!found || !(await deps.signInChallenges.take(tokenHash, 'single-sign-on', now))) throw expired()
  const { trip, organisationId, verifying }: Kept = JSON.parse(found.challenge.data)
  const identity = await deps.provider.finish({ ...trip, state }, query)
  if (verifying !== null) return verifyMember(deps, found, verifying, identity, source)
  const admission = await admitByProvider(deps, identity, organisationId, source.requestId)
  if ('organisations' in admission) return admission
  const { member, passwordHash } = admission
  const verified = { member, passwordHash, method: 'single-sign-on', browserId: null } as const
  const outcome = await continueSignIn(deps, { ...verified, verifiedAt: provedAt(identity, now) }, source)
  if (outcome === null) throw expired()
  return outcome
}

/** A provider whose clock is ahead must not make a proof last longer. */
function provedAt({ authenticatedAt }: ProviderIdentity, now: Instant): Instant {
  return Math.min(authenticatedAt ?? now, now)
}

/** The account must be the one with which the member signs in. */
async function verifyMember(
  deps: FinishDeps,
  { of }: FoundChallenge,
  from: string,
  identity: ProviderIdentity,
  { requestId }: SignInSource,
): Promise<SignInOutcome> {
  if (!of) throw expired()
  const { member } = of
  const { organisationId } = member
  const origin = originOfMember(member, requestId)
  const account = await deps.singleSignOn.accountOf(member.id)
  const isSame = account?.subject === identity.subject && account.issuer === identity.issuer
  if (!isSame || (await hasSecondFactor(deps, member))) {
    const what = { organisationId, kind: 'member.verification-failed', target: 'single sign-on' } as const
    deps.activity.add(activityNote(deps, origin, what)).catch(() => {})
    if (isSame) throw needsSecondFactor()
    throw new LetheError('forbidden', 'This is not the account with which you sign in here.')
  }
  const what = { organisationId, kind: 'member.verified', target: 'single sign-on' } as const
  const token = createToken(deps.randomness)
  const verifiedAt = provedAt(identity, deps.clock())
  const answered = { challengeHash: null, proof: { kind: 'single-sign-on', verifiedAt } } as const
  const note = activityNote(deps, origin, what)
  if (!(await deps.signIns.verify({ from, to: hashToken(token) }, member.id, answered, note))) throw expired()
  return { browser: { token, mark: null }, prompt: null }
}

/** It is then the proof that counts: an organisation may not rely on the provider for it. */
async function hasSecondFactor(deps: FactorDeps, member: Member): Promise<boolean> {
  return secondProofs(await factorsOf(deps, member)).length > 0
}

function needsSecondFactor(): LetheError {
  return new LetheError('forbidden', 'Confirm with your second factor: your account has one.')
}

function expired(): LetheError {
  return new LetheError(
    'invalid_request',
    'This sign-in has expired, was already used, or was started in another browser. Start again.',
  )
}

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
