import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Member } from './member.ts'

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
