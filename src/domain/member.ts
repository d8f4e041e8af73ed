import { createHmac, timingSafeEqual } from 'node:crypto'
import type { ActivityNote } from './activity.ts'
import type { Problems } from './errors.ts'
import type { Instant } from './instant.ts'
import type { Organisation } from './organisation.ts'

/** A person who can sign in to an organisation's console. */
export interface Member {
  id: string
  organisationId: string
  /** In lower case; unique within the organisation. */
  email: string
  createdAt: Instant
  /** `null` until the first invitation is used. */
  passwordSetAt: Instant | null
}

/** A link to set a password. A member has at most one; it can be used once, until it expires. */
export interface Invitation {
  tokenHash: string
  expiresAt: Instant
}

export const invitationMs = 86_400_000

export const maxEmailLength = 254

export function normaliseEmail(text: string): string {
  return text.trim().toLowerCase()
}

export const emailRule = `an e-mail address of at most ${maxEmailLength} characters`

/** Checks only the form; whether mail arrives cannot be known. */
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
  /** Returns `false` if the organisation does not exist or has a member with this address. */
  create(member: Member, invitation: Invitation, note: ActivityNote): Promise<boolean>
  /** `null` if the organisation has no such member. */
  find(organisationId: string, id: string): Promise<Member | null>
  /** In the given organisation, or in the only one with this address. `null` if there is none, or several. */
  findByEmail(
    email: string,
    organisationId: string | null,
  ): Promise<{ member: Member; passwordHash: string | null } | null>
  /** Oldest first. */
  list(organisationId: string): Promise<Member[]>
  /** Replaces a member's link. Returns `false` if the member does not exist. */
  invite(id: string, invitation: Invitation, note: ActivityNote): Promise<boolean>
  /** `null` if the link is unknown, used, replaced or expired. */
  findInvited(tokenHash: string, now: Instant): Promise<Member | null>
  /**
   * Sets the password, consumes the link and ends all sign-ins of the member, in one transaction. Returns
   * `false` if the link is not valid at `now`.
   */
  setPassword(tokenHash: string, passwordHash: string, now: Instant, note: ActivityNote): Promise<boolean>
  /** Removes a member and their sign-ins. Returns `last` if it is the organisation's only member. */
  remove(organisationId: string, id: string, note: ActivityNote): Promise<'removed' | 'absent' | 'last'>
}

/** A member's session in one browser, identified by the hash of the token in the browser's cookie. */
export interface SignIn {
  tokenHash: string
  memberId: string
  startedAt: Instant
  lastSeenAt: Instant
}

export const idleTimeoutMs = 2 * 3_600_000
export const maxSignInMs = 7 * 86_400_000

/** A sign-in in the future comes from a wrong clock, and would otherwise last until the clock catches up. */
export function isOver({ startedAt, lastSeenAt }: SignIn, now: Instant): boolean {
  return Math.abs(now - lastSeenAt) >= idleTimeoutMs || now >= startedAt + maxSignInMs
}

/** The cookies of a sign-in: the token, and a mark that identifies the browser at later sign-ins. */
export interface SignedInBrowser {
  token: string
  mark: string
}

export interface SignedIn {
  signIn: SignIn
  member: Member
  organisation: Organisation
}

export interface SignInStore {
  /**
   * Returns `false` if the member does not exist or set a password after `passwordSetAt`. Also deletes other
   * sign-ins, of any member, that have ended.
   */
  begin(signIn: SignIn, passwordSetAt: Instant, note: ActivityNote): Promise<boolean>
  /** `null` if the sign-in was ended or never existed. May return one that has expired. */
  find(tokenHash: string): Promise<SignedIn | null>
  /** Does nothing if the sign-in has ended. */
  touch(tokenHash: string, now: Instant): Promise<void>
  /** Returns `false` if the sign-in had already ended. */
  end(tokenHash: string, note: ActivityNote): Promise<boolean>
  /** Ends all sign-ins of a member. */
  endAll(memberId: string, note: ActivityNote): Promise<void>
}

export interface MemberWithPassword {
  member: Member
  passwordHash: string
}

/** How long a browser is recognised after a sign-in. */
export const knownBrowserMs = 180 * 86_400_000

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
