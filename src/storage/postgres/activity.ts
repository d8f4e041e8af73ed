import type { ActivityNote, ActivityStore } from '../../domain/activity.ts'
import type { SubjectCounts } from '../../domain/subject.ts'
import { toPage } from '../page.ts'
import { noteColumns, noteValues, rangeOf, toEntry } from '../rows/activity.ts'
import type { Connections } from './connections.ts'
import { statement } from './statement.ts'
import type { Run } from './transact.ts'

const columns = noteColumns.join(', ')
const range = 'organisation_id = $1 AND (at, id) < ($2, $3) AND at >= $4'
const order = 'ORDER BY at DESC, id DESC LIMIT $5'
const list = statement(`SELECT ${columns} FROM activity WHERE ${range} ${order}`)
const listOfRequest = statement(`SELECT ${columns} FROM activity WHERE ${range} AND request_id = $6 ${order}`)
const insert = statement(
  `INSERT INTO activity (${columns}) VALUES (${noteColumns.map((_, index) => `$${index + 1}`).join(', ')})`,
)

export function activityStore(connections: Connections): ActivityStore {
  return {
    async list(organisationId, query) {
      const { limit, requestId } = query
      const values = [organisationId, ...rangeOf(query), limit + 1]
      const rows = await (requestId === null
        ? connections.read(list, values)
        : connections.read(listOfRequest, [...values, requestId]))
      return toPage(rows.map(toEntry), limit, ({ at, id }) => ({ at, id }))
    },
  }
}

/** Leaves an entry behind, within the transaction of the change it tells of. */
export function leaveNote(run: Run, note: ActivityNote | undefined, counts?: SubjectCounts): void {
  if (note) run(insert, noteValues(note, counts))
}
