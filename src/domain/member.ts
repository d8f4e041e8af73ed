import type { ActivityNote } from './activity.ts'
import type { Problems } from './errors.ts'
import { dayMs, type Instant } from './instant.ts'
import type { Language } from './language.ts'

/** What members may do, from the least to the most: each role may do what those before it may. */
export const roles = ['viewer', 'desk', 'admin'] as const

export type Role = (typeof roles)[number]

export function isRole(text: unknown): text is Role {
  return roles.some((role) => role === text)
}

/** Whether a member with a role may do what needs another one. */
export function allows(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed)
}

/** A person who can sign in to an organisation's console. */
export interface Member {
  id: string
  organisationId: string
  /** In lower case; unique within the organisation. */
  email: string
  role: Role
  createdAt: Instant
  /** `null` until the first invitation is used. */
  passwordSetAt: Instant | null
  /** Whether the member has signed in by single sign-on, and is connected with that account. */
  isConnected: boolean
  /** The language of documents that the member makes; `null` for that of the organisation. */
  language: Language | null
}

/** Whether the member has signed in once: with a password, or at the identity provider. */
export function hasJoined({ passwordSetAt, isConnected }: Member): boolean {
  return passwordSetAt !== null || isConnected
}

/** An admin, and whether the rules of the organisation let them sign in with what they have. */
export interface AdminAccess {
  id: string
  canSignIn: boolean
}

/** Whether nobody could administer an organisation without one of its admins. */
export function isLastAdmin(id: string, admins: readonly AdminAccess[]): boolean {
  const admin = admins.find((each) => each.id === id)
  if (!admin) return false
  return !admins.some((other) => other !== admin && (other.canSignIn || !admin.canSignIn))
}

/** A link to set a password. A member has at most one; it can be used once, until it expires. */
export interface Invitation {
  tokenHash: string
  expiresAt: Instant
}

export const invitationMs = dayMs

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

export interface PasswordChange {
  memberId: string
  /** When the current password was set. */
  passwordSetAt: Instant | null
  passwordHash: string
  /** The token hash of the sign-in that stays, and its new one. */
  from: string
  to: string
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
  /**
   * Changes the role for the next request of each sign-in. A higher role needs a new proof of identity.
   * Returns `last` for the last admin, and `absent` if there is no such member with the role `from`.
   */
  setRole(
    ref: { organisationId: string; id: string },
    change: { from: Role; to: Role },
    note: ActivityNote,
  ): Promise<'changed' | 'absent' | 'last'>
  /** Does nothing if the member does not exist. */
  setLanguage(
    ref: { organisationId: string; id: string },
    language: Language | null,
    note: ActivityNote,
  ): Promise<void>
  /**
   * Changes the password, voids any link, ends all sign-ins of the member but one, and gives that one a new
   * token. Returns `false` if the password is not that of `passwordSetAt`.
   */
  changePassword(change: PasswordChange, note: ActivityNote): Promise<boolean>
  /** Removes a member and their sign-ins. Returns `last` for the last admin. */
  remove(organisationId: string, id: string, note: ActivityNote): Promise<'removed' | 'absent' | 'last'>
}
