import type { ActivityStore, Origin } from '../domain/activity.ts'
import { LetheError } from '../domain/errors.ts'
import type { Clock, Instant } from '../domain/instant.ts'
import {
  isOver,
  type Member,
  type MemberStore,
  type MemberWithPassword,
  markBrowser,
  normaliseEmail,
  readBrowserMark,
  type SignedIn,
  type SignedInBrowser,
  type SignInStore,
} from '../domain/member.ts'
import { hashPassword, isPassword, type Passwords } from '../domain/password.ts'
import { createToken, hashToken, type Randomness } from '../domain/randomness.ts'
import { activityNote } from './activity.ts'

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

interface Credentials {
  email: string
  password: string
  /** Only needed where several organisations know the address. */
  organisationId: string | null
  /** What the browser was given at an earlier sign-in. */
  browserMark: string | null
}

interface SignInDeps {
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
  throw new LetheError('unauthorized', 'The e-mail address or the password is incorrect.')
}

/** Not waited for: who guesses addresses must not learn from the time it takes which of them are members'. */
function noteFailure(deps: SignInDeps, { id, organisationId, email }: Member, requestId: string): void {
  const origin = { actor: { kind: 'member', id, name: email }, requestId, organisationId } as const
  const what = { organisationId, kind: 'member.sign-in-failed', target: null } as const
  deps.activity.add(activityNote(deps, origin, what)).catch(() => {})
}

/** How old the note of when a sign-in was last seen may become: writing it with every request would help nobody. */
const touchAfterMs = 60_000

/** Who a browser's token stands for; `null` for one that is unknown, ended or over. */
export async function authenticateMember(
  { signIns, clock }: { signIns: SignInStore; clock: Clock },
  token: string,
): Promise<SignedIn | null> {
  const now = clock()
  const found = await signIns.find(hashToken(token))
  if (found === null || isOver(found.signIn, now)) return null
  if (now - found.signIn.lastSeenAt >= touchAfterMs) {
    // Not waited for: a scrub may keep writes waiting, and should it fail, the sign-in merely ends a little earlier.
    signIns.touch(found.signIn.tokenHash, now).catch(() => {})
  }
  return found
}

/** Ends a member's sign-in, or with `everywhere` all of them; their tokens are no good from then on. */
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

/** Lets a few hashes be made concurrently and some wait; beyond that, whoever comes is sent away until those have had their turn. */
export function passwordQueue(
  randomness: Randomness,
  { atOnce = 2, waiting = 64, now = () => performance.now() } = {},
): Passwords {
  const queue: (() => void)[] = []
  let running = 0
  /** How long the last hash took. */
  let lastMs = 0

  async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    if (running >= atOnce) {
      if (queue.length >= waiting) {
        const retryAfterSeconds = Math.max(1, Math.ceil((queue.length / atOnce) * (lastMs / 1_000)))
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
      // Whoever is next takes this one's place; only without anybody is it given up.
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
