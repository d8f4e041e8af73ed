import {
  type ActivityEntry,
  type ActivityNote,
  type ActivityQuery,
  type Actor,
  commandLineActor,
  type ErasureFacts,
  isActivityKind,
} from '../../domain/activity.ts'
import { integer, integerOrNull, type Row, text, textOrNull } from './row.ts'

/** What an entry is stored in; `noteValues` come in the same order. */
export const noteColumns = [
  ...['organisation_id', 'at', 'id', 'kind', 'actor_kind', 'actor_id', 'actor_name', 'target', 'request_id'],
  ...['sessions', 'events', 'ledger_index'],
]

export function noteValues(note: ActivityNote, erasure?: ErasureFacts): (string | number | null)[] {
  const { organisationId, at, id, kind, actor, target, requestId } = note
  const [actorId, actorName] = actor.kind === 'command-line' ? [null, null] : [actor.id, actor.name]
  return [
    ...[organisationId, at, id, kind, actor.kind, actorId, actorName, target, requestId],
    ...[erasure?.counts.sessions ?? null, erasure?.counts.events ?? null, erasure?.ledgerIndex ?? null],
  ]
}

/**
 * What reads a page of an organisation's activity, newest first, with a row more than it holds: SQL with question marks, and their
 * values. `by` says how an engine is told to go by an index, where it would not by itself.
 */
export function activityPage(
  organisationId: string,
  { kind = null, actor = null, requestId, limit, after, since }: ActivityQuery,
  by: (index: string) => string = () => '',
): { sql: string; values: (string | number)[] } {
  const { at, id } = after ?? { at: Number.MAX_SAFE_INTEGER, id: '' }
  const conditions = ['organisation_id = ?', '(at, id) < (?, ?)', 'at >= ?']
  const values: (string | number)[] = [organisationId, at, id, since ?? Number.MIN_SAFE_INTEGER]
  const narrow = (condition: string, value: string) => {
    conditions.push(condition)
    values.push(value)
  }
  if (requestId !== null) narrow('request_id = ?', requestId)
  if (kind !== null) narrow('kind = ?', kind)
  if (actor === commandLineActor) conditions.push('actor_id IS NULL')
  else if (actor !== null) narrow('actor_id = ?', actor)
  const index = requestId !== null ? 'request' : indexOf(kind !== null, actor !== null)
  const from = index === null ? 'activity' : `activity ${by(`activity_by_${index}`)}`
  const sql = `SELECT ${noteColumns.join(', ')} FROM ${from} WHERE ${conditions.join(' AND ')}
    ORDER BY at DESC, id DESC LIMIT ?`
  return { sql, values: [...values, limit + 1] }
}

function indexOf(isOfKind: boolean, isOfActor: boolean): string | null {
  if (isOfActor) return isOfKind ? 'actor_and_kind' : 'actor'
  return isOfKind ? 'kind' : null
}

export function toEntry(row: Row): ActivityEntry {
  const kind = text(row, 'kind')
  if (!isActivityKind(kind))
    throw new Error(`The store holds activity of a kind "${kind}" that this program does not know.`)
  return {
    id: text(row, 'id'),
    organisationId: text(row, 'organisation_id'),
    at: integer(row, 'at'),
    actor: toActor(row),
    kind,
    target: textOrNull(row, 'target'),
    requestId: textOrNull(row, 'request_id'),
    counts:
      row.sessions === null ? null : { sessions: integer(row, 'sessions'), events: integer(row, 'events') },
    ledgerIndex: integerOrNull(row, 'ledger_index'),
  }
}

/** Who did something, as columns of whatever table tell it. */
export function toActor(row: Row): Actor {
  const kind = text(row, 'actor_kind')
  if (kind !== 'member' && kind !== 'key') return { kind: 'command-line' }
  return { kind, id: text(row, 'actor_id'), name: text(row, 'actor_name') }
}
