import type { DatabaseSync } from 'node:sqlite'
import {
  type ActivityEntry,
  type ActivityNote,
  type ActivityPosition,
  type ActivityQuery,
  type Actor,
  isActivityKind,
} from '../../domain/activity.ts'
import type { Page } from '../../domain/page.ts'
import type { SubjectCounts } from '../../domain/subject.ts'
import { toPage } from './page.ts'
import { integer, type Row, text, textOrNull } from './row.ts'

export function activityQueries(db: DatabaseSync) {
  const order = 'ORDER BY at DESC, id DESC LIMIT ?'
  const newest = db.prepare(`SELECT * FROM activity WHERE organisation_id = ? ${order}`)
  const following = db.prepare(
    `SELECT * FROM activity WHERE organisation_id = ? AND (at, id) < (?, ?) ${order}`,
  )
  const ofRequest = 'organisation_id = ? AND request_id = ?'
  const newestOfRequest = db.prepare(`SELECT * FROM activity WHERE ${ofRequest} ${order}`)
  const followingOfRequest = db.prepare(
    `SELECT * FROM activity WHERE ${ofRequest} AND (at, id) < (?, ?) ${order}`,
  )

  function find(organisationId: string, { limit, after, requestId }: ActivityQuery): Row[] {
    if (requestId === null) {
      return after
        ? following.all(organisationId, after.at, after.id, limit + 1)
        : newest.all(organisationId, limit + 1)
    }
    return after
      ? followingOfRequest.all(organisationId, requestId, after.at, after.id, limit + 1)
      : newestOfRequest.all(organisationId, requestId, limit + 1)
  }

  return {
    list(organisationId: string, query: ActivityQuery): Page<ActivityEntry, ActivityPosition> {
      const entries = find(organisationId, query).map(toEntry)
      return toPage(entries, query.limit, ({ at, id }) => ({ at, id }))
    },
  }
}

/** Leaves an entry behind, within the transaction of the change it tells of. */
export type LeaveNote = (note: ActivityNote | undefined, counts?: SubjectCounts) => void

export function activityNotes(db: DatabaseSync): LeaveNote {
  const insert = db.prepare(
    `INSERT INTO activity
       (organisation_id, at, id, kind, actor_kind, actor_id, actor_name, target, request_id, sessions, events)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  return (note, counts) => {
    if (!note) return
    const { organisationId, at, id, kind, actor, target, requestId } = note
    const [actorId, actorName] = actor.kind === 'command-line' ? [null, null] : [actor.id, actor.name]
    insert.run(
      ...[organisationId, at, id, kind, actor.kind, actorId, actorName, target, requestId],
      ...[counts?.sessions ?? null, counts?.events ?? null],
    )
  }
}

function toEntry(row: Row): ActivityEntry {
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
  }
}

function toActor(row: Row): Actor {
  const kind = text(row, 'actor_kind')
  if (kind !== 'member' && kind !== 'key') return { kind: 'command-line' }
  return { kind, id: text(row, 'actor_id'), name: text(row, 'actor_name') }
}
