import type { Origin } from '../domain/activity.ts'
import { LetheError } from '../domain/errors.ts'
import type { Clock, Instant } from '../domain/instant.ts'
import { type Member, type MemberStore, normaliseEmail } from '../domain/member.ts'
import { hashPassword, isPassword, type Passwords } from '../domain/password.ts'
import { createToken, hashToken, type Randomness } from '../domain/randomness.ts'
import { type AnsweredChallenge, needsSecondStep, proofNames } from '../domain/second-factor.ts'
import {
  isOver,
  markBrowser,
  readBrowserMark,
  type SignedIn,
  type SignedInBrowser,
  type SignInMethod,
  type SignInSource,
  type SignInStore,
} from '../domain/sign-in.ts'
import { activityNote } from './activity.ts'
import {
  type Answer,
  checkAnswer,
  expiredPrompt,
  type FactorDeps,
  factorsOf,
  noteRefusal,
  type ProofPrompt,
  promptFor,
  secondProofs,
} from './second-factor.ts'

/** A member who has proved their identity. */
interface VerifiedMember {
  member: Member
  /** `null` if the member has no password. */
  passwordHash: string | null
  method: SignInMethod
  /** The ID of a browser that the member has used before. */
  browserId: string | null
  /** When the member proved their identity, if not now. */
  verifiedAt?: Instant
}

const methodNames: Record<SignInMethod, string> = {
  password: proofNames.password,
  passkey: proofNames.passkey,
  'single-sign-on': proofNames['single-sign-on'],
  invitation: 'link',
}

/**
 * Call after verifying the member's identity. `null` if the password has changed since the member was read,
 * if a second step is needed now, or if the member was removed.
 */
export async function beginSignIn(
  deps: { signIns: SignInStore; clock: Clock; randomness: Randomness },
  { member, passwordHash, method, browserId, verifiedAt }: VerifiedMember,
  { requestId, device, address, replaces }: SignInSource,
  answered: AnsweredChallenge | null = null,
): Promise<SignedInBrowser | null> {
  const { id, organisationId, passwordSetAt } = member
  const now = deps.clock()
  const token = createToken(deps.randomness)
  const origin = originOfMember(member, requestId)
  const proof = answered && answered.proof.kind !== method ? ` and ${proofNames[answered.proof.kind]}` : ''
  const target = `${methodNames[method]}${proof}`
  const note = activityNote(deps, origin, { organisationId, kind: 'member.signed-in', target })
  const signIn = {
    ...{ tokenHash: hashToken(token), id: `sgn_${deps.randomness.base62(16)}`, memberId: id, method },
    ...{ startedAt: now, lastSeenAt: now, verifiedAt: verifiedAt ?? now, device, address },
  }
  if (!(await deps.signIns.begin(signIn, passwordSetAt, note, { answered, replaces }))) return null
  const newBrowser = () => deps.randomness.base62(22)
  const mark = passwordHash && markBrowser(browserId ?? newBrowser(), { member, passwordHash })
  return { token, mark }
}

/** A sign-in that has begun, or the question of its second step. */
export type SignInOutcome =
  | { browser: SignedInBrowser; prompt: null }
  | { browser: null; prompt: ProofPrompt }

interface SecondStep {
  method: SignInMethod
  browserId: string | null
  passwordSetAt: Instant | null
}

/**
 * Call after verifying the member's identity, in any way: asks for a second factor if one is needed. `null`
 * as `beginSignIn`.
 */
export async function continueSignIn(
  deps: FactorDeps & { signIns: SignInStore },
  verified: VerifiedMember,
  source: SignInSource,
): Promise<SignInOutcome | null> {
  const { member, method, browserId } = verified
  const factors = await factorsOf(deps, member)
  const { rule, passkeys, totp } = factors
  if (!needsSecondStep({ rule, hasPasskey: passkeys.length > 0, hasTotp: totp !== null }, method)) {
    const browser = await beginSignIn(deps, verified, source)
    return browser && { browser, prompt: null }
  }
  const data: SecondStep = { method, browserId, passwordSetAt: member.passwordSetAt }
  const challenge = { kind: 'second-factor', memberId: member.id, data } as const
  const { relyingParty } = source
  const prompt = await promptFor(deps, challenge, secondProofs(factors), passkeys, relyingParty)
  return prompt && { browser: null, prompt }
}

interface SecondStepDeps extends FactorDeps {
  signIns: SignInStore
  passwords: Passwords
  /** Counts an attempt on the account, by known browser or as a stranger. Rejects after too many. */
  countGuess(email: string, browserId: string | null): Promise<void>
}

/**
 * The second step. Throws `unauthorized` if the answer is wrong; the question stays. Throws `invalid_request`
 * if the question has expired.
 */
export async function finishSignIn(
  deps: SecondStepDeps,
  { token, answer }: { token: string; answer: Answer },
  source: SignInSource,
): Promise<SignedInBrowser> {
  const challengeHash = hashToken(token)
  const found = await deps.signInChallenges.find(challengeHash, 'second-factor', deps.clock())
  const { method, browserId, passwordSetAt }: SecondStep = JSON.parse(found?.challenge.data ?? '{}')
  if (!found?.of || passwordSetAt !== found.of.member.passwordSetAt) throw expiredPrompt()
  const { member } = found.of
  await deps.countGuess(member.email, browserId)
  const checked = await checkAnswer(deps, found.of, { token, answer, relyingParty: source.relyingParty })
  if ('proof' in checked && secondProofs(await factorsOf(deps, member)).includes(checked.proof.kind)) {
    const answered = { challengeHash, proof: checked.proof }
    const browser = await beginSignIn(deps, { ...found.of, method, browserId }, source, answered)
    if (browser) return browser
  }
  noteRefusal(deps, member, checked, 'member.sign-in-failed', originOfMember(member, source.requestId))
  throw new LetheError('unauthorized', 'This was not accepted. Try again, or use something else.')
}

export function originOfMember({ id, organisationId, email }: Member, requestId: string): Origin {
  return { actor: { kind: 'member', id, name: email }, requestId, organisationId }
}

interface Credentials {
  email: string
  password: string
  /** Required only if several organisations know the address. */
  organisationId: string | null
  /** The mark that the browser got at an earlier sign-in. */
  browserMark: string | null
}

interface SignInDeps extends FactorDeps {
  members: MemberStore
  signIns: SignInStore
  passwords: Passwords
  /** Whether an organisation can require single sign-on. */
  hasProvider: boolean
  /** Counts an attempt, by known browser or as a stranger. Rejects with `rate_limited` after too many. */
  countGuess(browserId: string | null): Promise<void>
}

/**
 * Throws `unauthorized` with the same message, and after the same work, for an unknown or ambiguous address,
 * a missing password and a wrong password.
 */
export async function signIn(
  deps: SignInDeps,
  { email, password, organisationId, browserMark }: Credentials,
  source: SignInSource,
): Promise<SignInOutcome> {
  const { member = null, passwordHash = null } =
    (await deps.members.findByEmail(normaliseEmail(email), organisationId)) ?? {}
  const known = member && passwordHash !== null ? { member, passwordHash } : null
  const browserId = known && browserMark !== null ? readBrowserMark(browserMark, known) : null
  await deps.countGuess(browserId)
  const isRight = await deps.passwords.matches(password, passwordHash)
  const isAllowed = known && isRight && (await allowsPassword(deps, known.member))
  const outcome = isAllowed
    ? await continueSignIn(deps, { ...known, method: 'password', browserId }, source)
    : null
  if (outcome) return outcome
  if (member) noteFailure(deps, member, source.requestId)
  if (isAllowed === false && isRight) throw new LetheError('forbidden', notWithPassword)
  throw new LetheError('unauthorized', 'The e-mail address or the password is incorrect.')
}

const notWithPassword = 'Your organisation does not allow passwords. Use single sign-on or a passkey.'

/** Without an identity provider, a rule that excludes passwords would lock everybody out. */
export async function allowsPassword(
  { signInRules, hasProvider }: Pick<SignInDeps, 'signInRules' | 'hasProvider'>,
  { organisationId }: Member,
): Promise<boolean> {
  return !hasProvider || (await signInRules.find(organisationId)).passwordAllowed
}

/** Not awaited, so that the time does not reveal which addresses are members'. */
function noteFailure(deps: SignInDeps, member: Member, requestId: string): void {
  const { organisationId } = member
  const what = { organisationId, kind: 'member.sign-in-failed', target: 'password' } as const
  deps.activity.add(activityNote(deps, originOfMember(member, requestId), what)).catch(() => {})
}

/** Avoids a write with every request. */
const touchAfterMs = 60_000

/** `null` if the sign-in is unknown, ended or expired. */
export async function authenticateMember(
  { signIns, clock }: { signIns: SignInStore; clock: Clock },
  token: string,
): Promise<SignedIn | null> {
  const now = clock()
  const found = await signIns.find(hashToken(token))
  if (found === null || isOver(found.signIn, now)) return null
  if (now - found.signIn.lastSeenAt >= touchAfterMs) {
    // Not awaited, because writes may wait for a scrub. If it fails, the sign-in only expires earlier.
    signIns.touch(found.signIn.tokenHash, now).catch(() => {})
  }
  return found
}

export async function signOut(
  deps: { signIns: SignInStore; clock: Clock; randomness: Randomness },
  { signIn, member }: SignedIn,
  { everywhere }: { everywhere: boolean },
  origin: Origin,
): Promise<void> {
  const { organisationId } = member
  const kind = everywhere ? 'member.signed-out-everywhere' : 'member.signed-out'
  const note = activityNote(deps, origin, { organisationId, kind, target: null })
  if (everywhere) await deps.signIns.endAll(member.id, note)
  else await deps.signIns.end(signIn.tokenHash, note)
}

/** Limits concurrent hashing. When too many callers wait, others are refused until the queue is shorter. */
export function passwordQueue(
  randomness: Randomness,
  { concurrency = 2, waiting = 64, now = () => performance.now() } = {},
): Passwords {
  const queue: (() => void)[] = []
  let running = 0
  /** How long the last hash took. */
  let lastMs = 0

  async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    if (running >= concurrency) {
      if (queue.length >= waiting) {
        const retryAfterSeconds = Math.max(1, Math.ceil((queue.length / concurrency) * (lastMs / 1_000)))
        throw new LetheError('rate_limited', 'Too many people are signing in at the moment.', [], {
          retryAfterSeconds,
        })
      }
      const { promise, resolve } = Promise.withResolvers<void>()
      queue.push(resolve)
      await promise
    } else {
      running += 1
    }
    const startedAt = now()
    try {
      return await work()
    } finally {
      lastMs = now() - startedAt
      // The next caller takes over the slot.
      const next = queue.shift()
      if (next) next()
      else running -= 1
    }
  }

  return {
    hash: (password) => inTurn(() => hashPassword(password, randomness)),
    matches: (password, hash) => inTurn(() => isPassword(password, hash)),
  }
}
