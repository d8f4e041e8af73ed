import type { ActivityNote } from './activity.ts'
import type { Instant } from './instant.ts'
import type { Member } from './member.ts'
import type { Organisation } from './organisation.ts'

/** A member's stay in the console from one browser, known by the hash of the token in its cookie. */
export interface SignIn {
  tokenHash: string
  memberId: string
  startedAt: Instant
  lastSeenAt: Instant
}

/** A sign-in ends when nothing came from it for so long… */
export const idleMs = 2 * 3_600_000
/** …and at the latest after this. */
export const longestMs = 7 * 86_400_000

/** One from the future comes from a clock that was wrong, and would last until the clock has caught up. */
export function isOver({ startedAt, lastSeenAt }: SignIn, now: Instant): boolean {
  return Math.abs(now - lastSeenAt) >= idleMs || now >= startedAt + longestMs
}

/** What a browser keeps of a sign-in: its token, and a mark by which it is known later. */
export interface SignedInBrowser {
  token: string
  mark: string
}

/** Who is at the console. */
export interface SignedIn {
  signIn: SignIn
  member: Member
  organisation: Organisation
}

export interface SignInStore {
  /**
   * Stores a new sign-in. `false`, with nothing stored, when the member is gone or its password was set after `passwordSetAt`.
   * Deletes, of whichever member, those that are over at its start because nothing came from them or they come from the future.
   */
  begin(signIn: SignIn, passwordSetAt: Instant, note: ActivityNote): Promise<boolean>
  /** `null` when there is none with this hash: ended, or never there. One that is over may still be found. */
  find(tokenHash: string): Promise<SignedIn | null>
  /** Notes that something came from it; does nothing when it has ended. */
  touch(tokenHash: string, now: Instant): Promise<void>
  /** Ends one. `false`, with nothing noted, when it had ended already. */
  end(tokenHash: string, note: ActivityNote): Promise<boolean>
  /** Ends all of a member's. */
  endAll(memberId: string, note: ActivityNote): Promise<void>
}
