import type { DatabaseSync } from 'node:sqlite'
import type { ActivityEntry, ActivityNote, ActivityPosition, ActivityQuery } from '../../domain/activity.ts'
import type { Page } from '../../domain/page.ts'
import type { SubjectCounts } from '../../domain/subject.ts'
import { toPage } from '../page.ts'
import { noteColumns, noteValues, toEntry } from '../rows/activity.ts'
import type { Row } from '../rows/row.ts'
import { transaction } from './connection.ts'

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

export function activityCommands(db: DatabaseSync) {
  const leaveNote = activityNotes(db)
  const owner = db.prepare('SELECT 1 FROM organisations WHERE id = ?')
  return {
    addActivity: (note: ActivityNote): void =>
      transaction(db, () => {
        if (owner.get(note.organisationId)) leaveNote(note)
      }),
  }
}

/** Leaves an entry behind, within the transaction of the change it tells of. */
export type LeaveNote = (note: ActivityNote | undefined, counts?: SubjectCounts) => void

export function activityNotes(db: DatabaseSync): LeaveNote {
  const insert = db.prepare(
    `INSERT INTO activity (${noteColumns.join(', ')}) VALUES (${noteColumns.map(() => '?').join(', ')})`,
  )
  return (note, counts) => {
    if (!note) return
    insert.run(...noteValues(note, counts))
  }
}
