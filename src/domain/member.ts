import { createHmac, timingSafeEqual } from 'node:crypto'
import type { ActivityNote } from './activity.ts'
import type { Problems } from './errors.ts'
import type { Instant } from './instant.ts'
import type { Organisation } from './organisation.ts'

/** A person who may sign in to the console of one organisation. All members of an organisation may do the same. */
export interface Member {
  id: string
  organisationId: string
  /** In lower case; unique within the organisation. */
  email: string
  createdAt: Instant
  /** When the password was last set; `null` while the first link waits to be used. */
  passwordSetAt: Instant | null
}

/** A link to set a password with, by the hash of its token. A member has one at most; it is good once, until it expires. */
export interface Invitation {
  tokenHash: string
  expiresAt: Instant
}

/** How long a link to set a password is good for. */
export const invitationMs = 86_400_000

export const maxEmailLength = 254

/** The form in which an address is stored and compared. */
export function normaliseEmail(text: string): string {
  return text.trim().toLowerCase()
}

export const emailRule = `an e-mail address of at most ${maxEmailLength} characters`

/** Something before the one @, and a name with a dot or plain letters behind it; whether mail arrives there, nobody can tell. */
export function checkEmail(email: string, problems: Problems): void {
  if (
    email.length > maxEmailLength ||
    !/^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(email) ||
    !email.isWellFormed()
  ) {
    problems.add('email', `email must be ${emailRule}`)
  }
}

export interface MemberStore {
  /**
   * Stores a new member with the link to set a password. `false`, with nothing stored, when the organisation has a member of this
   * address or is not there.
   */
  create(member: Member, invitation: Invitation, note: ActivityNote): Promise<boolean>
  /** `null` when the organisation has none with this id. */
  find(organisationId: string, id: string): Promise<Member | null>
  /**
   * The member of this address with the hash of the password, if one is set: of an organisation or, where none is named, of the
   * only one that knows the address. `null` when there is none, or several.
   */
  findByEmail(
    email: string,
    organisationId: string | null,
  ): Promise<{ member: Member; passwordHash: string | null } | null>
  /** An organisation's members, oldest first. */
  list(organisationId: string): Promise<Member[]>
  /** Gives a member a new link; the one before is no good any more. `false` when the member is gone. */
  invite(id: string, invitation: Invitation, note: ActivityNote): Promise<boolean>
  /** Whose link this is; `null` when it is unknown, used, replaced or expired at `now`. */
  findInvited(tokenHash: string, now: Instant): Promise<Member | null>
  /**
   * Sets the password of the member whose link this is, uses the link up and ends every sign-in of the member, in one transaction.
   * `false`, with nothing changed, when the link is no good at `now`.
   */
  setPassword(tokenHash: string, passwordHash: string, now: Instant, note: ActivityNote): Promise<boolean>
  /** Removes a member and its sign-ins. Nothing changes when it is not there (`absent`) or is the organisation's only one (`last`). */
  remove(organisationId: string, id: string, note: ActivityNote): Promise<'removed' | 'absent' | 'last'>
}

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

/** A member with the hash of its password. */
export interface MemberWithPassword {
  member: Member
  passwordHash: string
}

/** For how long a browser is known after a sign-in from it. */
export const knownBrowserMs = 180 * 86_400_000

/**
 * What a browser is given to show later that this member has signed in from it. Nothing is stored: the mark is keyed with the hash of
 * the password, so that nobody else can make one, and a new password voids it.
 */
export function markBrowser(browserId: string, known: MemberWithPassword): string {
  return `${browserId}.${proof(browserId, known).toString('base64url')}`
}

/** The id of the browser that a mark of this member's is from; `null` for any other text. */
export function readBrowserMark(mark: string, known: MemberWithPassword): string | null {
  const [browserId = '', given = ''] = mark.split('.')
  const [wanted, found] = [proof(browserId, known), Buffer.from(given, 'base64url')]
  return found.length === wanted.length && timingSafeEqual(found, wanted) ? browserId : null
}

function proof(browserId: string, { member, passwordHash }: MemberWithPassword): Buffer {
  return createHmac('sha256', passwordHash).update(`lethe browser ${member.id} ${browserId}`).digest()
}
