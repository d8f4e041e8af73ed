import {
  type PrivacyRequestQuery,
  pendingStates,
  requestKinds,
  requestStates,
} from '../../domain/privacy-request.ts'
import { firstOfRanges } from './inbox.ts'
import type { Row } from './row.ts'
import { type NamedValues, type Statement, statement } from './statement.ts'

/**
 * The statement and parameters for a page of requests, plus one row that shows whether more follow. Every
 * combination of filters is a range of one index, which SQLite is told, or a few ranges that are merged.
 */
export function requestPage(organisationId: string, query: PrivacyRequestQuery): [Statement, NamedValues] {
  const { state, kind, assigneeId, reference, isLatestFirst = false } = query
  const { dueBefore, after, limit } = query
  const isAssigned = assigneeId !== undefined
  const isOfGroup = reference !== undefined
  const [order, isAfter] = isLatestFirst ? ['due_at DESC, id DESC', '<'] : ['due_at, id', '>']
  // The indexes by assignee and by reference have both columns, so each of their values is a range.
  const anyState = state === 'pending' ? pendingStates : requestStates
  const isOneState = state !== null && state !== 'pending'
  const states = isOneState || !(isAssigned || isOfGroup) ? [state] : anyState
  const kinds = kind !== null || !(isAssigned || isOfGroup) ? [kind] : requestKinds
  const rangeOf = (state: string | null, kind: string | null, indexed: (name: string) => string) => {
    const fixed = [
      ...(isOfGroup ? [['reference', 'reference = :reference']] : []),
      ...(isAssigned ? [['assignee', assigneeId ? 'assignee_id = :assigneeId' : 'assignee_id IS NULL']] : []),
      ...(state === 'pending' ? [['pending', 'closed_at IS NULL']] : []),
      ...(state !== null && state !== 'pending' ? [['state', `state = '${state}'`]] : []),
      ...(kind !== null ? [['kind', `kind = '${kind}'`]] : []),
    ]
    const index = `privacy_requests_by_${[...fixed.map(([name]) => name), 'due'].join('_and_')}`
    const where = [
      ...['organisation_id = :organisationId', ...fixed.map(([, condition]) => condition)],
      ...[`(due_at, id) ${isAfter} (:at, :id)`, 'due_at < :before'],
    ]
    return `SELECT * FROM ${indexed(index)} WHERE ${where.join(' AND ')}`
  }
  const rangesOn = (indexed: (name: string) => string) =>
    states.flatMap((state) => kinds.map((kind) => rangeOf(state, kind, indexed)))
  const onPostgres = firstOfRanges(
    rangesOn(() => 'privacy_requests'),
    order,
  )
  const merged = rangesOn((index) => `privacy_requests INDEXED BY ${index}`).join(' UNION ALL ')
  const onSqlite = `${merged} ORDER BY ${order} LIMIT :count`
  const start = isLatestFirst ? Number.MAX_SAFE_INTEGER : Number.MIN_SAFE_INTEGER
  const { dueAt: at, id } = after ?? { dueAt: start, id: '' }
  const before = dueBefore ?? Number.MAX_SAFE_INTEGER
  const parameters = { organisationId, at, id, before, count: limit + 1 }
  const chosen = { assigneeId: assigneeId ?? null, reference: reference ?? null }
  return [statement(onPostgres, 'one', onSqlite), { ...parameters, ...chosen }]
}

/** The size of a request in a response, apart from its person and its texts. */
const bytesBesideTexts = 1_024

export function bytesOfRequest(row: Row): number {
  const texts = [row.person, row.reference, row.extension_reason, row.rejection_reason]
  return bytesBesideTexts + Buffer.byteLength(texts.join(''))
}
