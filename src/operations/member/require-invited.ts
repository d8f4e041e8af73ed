import { LetheError } from '../../domain/errors.ts'
import type { Clock } from '../../domain/instant.ts'
import type { Member, MemberStore } from '../../domain/member.ts'
import { hashToken } from '../../domain/token.ts'

/** Whose link to set a password a token is from. `not_found` when it is unknown, used, replaced or expired. */
export async function requireInvited(
  { members, clock }: { members: MemberStore; clock: Clock },
  token: string,
): Promise<Member> {
  const member = await members.findInvited(hashToken(token), clock())
  if (member === null) throw linkNoGood()
  return member
}

export function linkNoGood(): LetheError {
  return new LetheError(
    'not_found',
    'This link has been used, has been replaced or has expired. Ask for a new one.',
  )
}
