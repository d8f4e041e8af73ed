import type { Member } from '../../domain/member.ts'
import { integer, integerOrNull, type Row, text } from './row.ts'

export function toMember(row: Row): Member {
  return {
    id: text(row, 'id'),
    organisationId: text(row, 'organisation_id'),
    email: text(row, 'email'),
    createdAt: integer(row, 'created_at'),
    passwordSetAt: integerOrNull(row, 'password_set_at'),
  }
}
