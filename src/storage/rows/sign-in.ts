import type { SignedIn } from '../../domain/sign-in.ts'
import { toMember } from './member.ts'
import { toPlan } from './organisation.ts'
import { integer, type Row, text } from './row.ts'

/** Of a sign-in joined with its member and the member's organisation. */
export function toSignedIn(row: Row): SignedIn {
  const member = toMember(row)
  return {
    signIn: {
      tokenHash: text(row, 'token_hash'),
      memberId: member.id,
      startedAt: integer(row, 'started_at'),
      lastSeenAt: integer(row, 'last_seen_at'),
    },
    member,
    organisation: {
      id: member.organisationId,
      name: text(row, 'organisation_name'),
      plan: toPlan(row),
      createdAt: integer(row, 'organisation_created_at'),
    },
  }
}
