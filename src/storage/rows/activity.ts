import {
  type ActivityEntry,
  type ActivityNote,
  type ActivityQuery,
  type Actor,
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

/** The two ends of a query's range, newest first: the position behind which it begins, and the earliest instant in it. */
export function rangeOf({ after, since }: ActivityQuery): [at: number, id: string, since: number] {
  const { at, id } = after ?? { at: Number.MAX_SAFE_INTEGER, id: '' }
  return [at, id, since ?? Number.MIN_SAFE_INTEGER]
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
