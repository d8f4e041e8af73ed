import type { ActivityNote } from './activity.ts'
import type { Instant } from './instant.ts'
import type { Problems } from './problems.ts'

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
