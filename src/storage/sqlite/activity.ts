import type { DatabaseSync } from 'node:sqlite'
import type { ActivityEntry, ActivityNote, ActivityPosition, ActivityQuery } from '../../domain/activity.ts'
import type { Page } from '../../domain/page.ts'
import type { SubjectCounts } from '../../domain/subject.ts'
import { toPage } from '../page.ts'
import { noteColumns, noteValues, rangeOf, toEntry } from '../rows/activity.ts'

export function activityQueries(db: DatabaseSync) {
  const range = '(at, id) < (?, ?) AND at >= ? ORDER BY at DESC, id DESC LIMIT ?'
  const list = db.prepare(`SELECT * FROM activity WHERE organisation_id = ? AND ${range}`)
  const listOfRequest = db.prepare(
    `SELECT * FROM activity WHERE organisation_id = ? AND request_id = ? AND ${range}`,
  )
  return {
    list(organisationId: string, query: ActivityQuery): Page<ActivityEntry, ActivityPosition> {
      const { limit, requestId } = query
      const ends = [...rangeOf(query), limit + 1]
      const rows =
        requestId === null
          ? list.all(organisationId, ...ends)
          : listOfRequest.all(organisationId, requestId, ...ends)
      return toPage(rows.map(toEntry), limit, ({ at, id }) => ({ at, id }))
    },
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
