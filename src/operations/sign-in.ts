import type { ActivityStore, Origin } from '../domain/activity.ts'
import { LetheError } from '../domain/errors.ts'
import type { Clock } from '../domain/instant.ts'
import { type Member, type MemberStore, normaliseEmail } from '../domain/member.ts'
import { hashPassword, isPassword, type Passwords } from '../domain/password.ts'
import { createToken, hashToken, type Randomness } from '../domain/randomness.ts'
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

/** A member who has proved their identity. */
export interface VerifiedMember {
  member: Member
  /** `null` if the member has no password. */
  passwordHash: string | null
  method: SignInMethod
  /** The ID of a browser that the member has used before. */
  browserId: string | null
}

/**
 * Call after verifying the member's identity. `null` if the password has changed since the member was read, or
 * the member was removed.
 */
export async function beginSignIn(
  deps: { signIns: SignInStore; clock: Clock; randomness: Randomness },
  { member, passwordHash, method, browserId }: VerifiedMember,
  { requestId, device, address }: SignInSource,
): Promise<SignedInBrowser | null> {
  const { id, organisationId, email, passwordSetAt } = member
  const now = deps.clock()
  const token = createToken(deps.randomness)
  const origin: Origin = { actor: { kind: 'member', id, name: email }, requestId, organisationId }
  const note = activityNote(deps, origin, { organisationId, kind: 'member.signed-in', target: null })
  const signIn = {
    ...{ tokenHash: hashToken(token), id: `sgn_${deps.randomness.base62(16)}`, memberId: id, method },
    ...{ startedAt: now, lastSeenAt: now, verifiedAt: now, device, address },
  }
  if (!(await deps.signIns.begin(signIn, passwordSetAt, note))) return null
  const newBrowser = () => deps.randomness.base62(22)
  const mark = passwordHash && markBrowser(browserId ?? newBrowser(), { member, passwordHash })
  return { token, mark }
}

interface Credentials {
  email: string
  password: string
  /** Required only if several organisations know the address. */
  organisationId: string | null
  /** The mark that the browser got at an earlier sign-in. */
  browserMark: string | null
}

interface SignInDeps {
  members: MemberStore
  signIns: SignInStore
  activity: ActivityStore
  passwords: Passwords
  clock: Clock
  randomness: Randomness
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
): Promise<SignedInBrowser> {
  const { member = null, passwordHash = null } =
    (await deps.members.findByEmail(normaliseEmail(email), organisationId)) ?? {}
  const known = member && passwordHash !== null ? { member, passwordHash } : null
  const browserId = known && browserMark !== null ? readBrowserMark(browserMark, known) : null
  await deps.countGuess(browserId)
  const isRight = await deps.passwords.matches(password, passwordHash)
  const browser =
    known && isRight ? await beginSignIn(deps, { ...known, method: 'password', browserId }, source) : null
  if (browser) return browser
  if (member) noteFailure(deps, member, source.requestId)
  throw new LetheError('unauthorized', 'The e-mail address or the password is incorrect.')
}

/** Not awaited, so that the time does not reveal which addresses are members'. */
function noteFailure(deps: SignInDeps, { id, organisationId, email }: Member, requestId: string): void {
  const origin = { actor: { kind: 'member', id, name: email }, requestId, organisationId } as const
  const what = { organisationId, kind: 'member.sign-in-failed', target: null } as const
  deps.activity.add(activityNote(deps, origin, what)).catch(() => {})
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
