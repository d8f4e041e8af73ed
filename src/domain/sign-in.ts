import { createHmac, timingSafeEqual } from 'node:crypto'
import type { ActivityNote } from './activity.ts'
import { dayMs, type Instant } from './instant.ts'
import type { Member } from './member.ts'
import type { Organisation } from './organisation.ts'
import type { RelyingParty } from './passkey.ts'
import type { AnsweredChallenge, MissingFactor } from './second-factor.ts'

/** A member's session in one browser, identified by the hash of the token in the browser's cookie. */
export interface SignIn {
  tokenHash: string
  /** Shown to the member, unlike the hash. */
  id: string
  memberId: string
  method: SignInMethod
  startedAt: Instant
  lastSeenAt: Instant
  /** When the member last proved their identity. */
  verifiedAt: Instant
  /** Such as "Firefox on Linux"; `null` if it is unknown. */
  device: string | null
  /** The address that it was begun from, as budgets count it; `null` if it is unknown. */
  address: string | null
}

export const signInMethods = ['password', 'passkey', 'single-sign-on', 'invitation'] as const

export type SignInMethod = (typeof signInMethods)[number]

/** Where a sign-in comes from, and by which request. */
export interface SignInSource extends Pick<SignIn, 'device' | 'address'> {
  requestId: string
  /** The token hash of the browser's earlier sign-in, which ends; `null` without one. */
  replaces: string | null
  /** What passkeys belong to at the console's address; `null` if it has no host name. */
  relyingParty: RelyingParty | null
}

export const idleTimeoutMs = 2 * 3_600_000
export const maxSignInMs = 7 * dayMs

/** A sign-in in the future comes from a wrong clock, and would otherwise last until the clock catches up. */
export function isOver({ startedAt, lastSeenAt }: SignIn, now: Instant): boolean {
  return Math.abs(now - lastSeenAt) >= idleTimeoutMs || now >= startedAt + maxSignInMs
}

/**
 * The cookies of a sign-in: the token, and a mark that identifies the browser at later sign-ins with the
 * password; `null` if the member has none.
 */
export interface SignedInBrowser {
  token: string
  mark: string | null
}

export interface SignedIn {
  /** What the organisation requires, and the member must add before anything else. */
  missingFactor: MissingFactor | null
  signIn: SignIn
  member: Member
  organisation: Organisation
}

/** The hashes of the token of a sign-in, before and after its member was verified. */
export interface RenewedToken {
  from: string
  to: string
}

/** How long a proof of identity counts for requests that could do harm in the hands of a thief. */
export const recentSignInMs = 10 * 60_000

/** A proof in the future comes from a wrong clock. */
export function isRecent({ verifiedAt }: SignIn, now: Instant): boolean {
  return verifiedAt <= now && now - verifiedAt <= recentSignInMs
}

export interface SignInStore {
  /**
   * Returns `false` if the member does not exist, if `passwordSetAt` is not that of the password now, if what
   * was answered was used meanwhile, or if nothing was answered and a second step is needed now. Ends the
   * sign-in whose token hash is `replaces`, of any member, and deletes others that have ended.
   */
  begin(
    signIn: SignIn,
    passwordSetAt: Instant | null,
    note: ActivityNote,
    options?: { answered?: AnsweredChallenge | null; replaces?: string | null },
  ): Promise<boolean>
  /**
   * Gives a sign-in a new token after its member was verified. Returns `false` if it has ended, or if the
   * challenge or the proof was used meanwhile.
   */
  verify(
    renewed: RenewedToken,
    memberId: string,
    answered: AnsweredChallenge,
    note: ActivityNote,
  ): Promise<boolean>
  /** `null` if the sign-in was ended or never existed. May return one that has expired. */
  find(tokenHash: string): Promise<SignedIn | null>
  /** Does nothing if the sign-in has ended. */
  touch(tokenHash: string, now: Instant): Promise<void>
  /** Returns `false` if the sign-in had already ended. */
  end(tokenHash: string, note: ActivityNote): Promise<boolean>
  /** Ends all sign-ins of a member. */
  endAll(memberId: string, note: ActivityNote): Promise<void>
  /** The same except one. */
  endOthers(memberId: string, tokenHash: string, note: ActivityNote): Promise<void>
  /** Of a member, in any order. May contain some that have expired. */
  list(memberId: string): Promise<SignIn[]>
}

interface MemberWithPassword {
  member: Member
  passwordHash: string
}

/** How long a browser is recognised after a sign-in. */
export const knownBrowserMs = 180 * dayMs

/**
 * Creates a mark that later proves that this member signed in from the browser. It is keyed with the password
 * hash, so it need not be stored, cannot be forged, and becomes invalid with a new password.
 */
export function markBrowser(browserId: string, known: MemberWithPassword): string {
  return `${browserId}.${proof(browserId, known).toString('base64url')}`
}

/** The ID of the browser that a mark of this member identifies; `null` for any other text. */
export function readBrowserMark(mark: string, known: MemberWithPassword): string | null {
  const [browserId = '', given = ''] = mark.split('.')
  const [wanted, found] = [proof(browserId, known), Buffer.from(given, 'base64url')]
  return found.length === wanted.length && timingSafeEqual(found, wanted) ? browserId : null
}

function proof(browserId: string, { member, passwordHash }: MemberWithPassword): Buffer {
  return createHmac('sha256', passwordHash).update(`lethe browser ${member.id} ${browserId}`).digest()
}
