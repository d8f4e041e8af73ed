import type { ApiKey, Caller, KeyDay } from '../../domain/api-key.ts'
import { isScope } from '../../domain/scope.ts'
import { toPlan } from './organisation.ts'
import { integer, integerOrNull, type Row, text } from './row.ts'

export function toApiKey(row: Row): ApiKey {
  return {
    id: text(row, 'id'),
    organisationId: text(row, 'organisation_id'),
    name: text(row, 'name'),
    scopes: text(row, 'scopes').split(' ').filter(isScope),
    lastFour: text(row, 'last_four'),
    createdAt: integer(row, 'created_at'),
    rotatedAt: integerOrNull(row, 'rotated_at'),
    expiresAt: integerOrNull(row, 'expires_at'),
    revokedAt: integerOrNull(row, 'revoked_at'),
    lastUsedAt: integerOrNull(row, 'last_used_at'),
  }
}

/** Of a key joined with the plan of its organisation. */
export function toCaller(row: Row): Caller & { hash: string } {
  return { key: toApiKey(row), plan: toPlan(row), hash: text(row, 'hash') }
}

export function toKeyDay(row: Row): KeyDay {
  return {
    keyId: text(row, 'key_id'),
    day: integer(row, 'day'),
    requests: integer(row, 'requests'),
    refusals: integer(row, 'refusals'),
  }
}
