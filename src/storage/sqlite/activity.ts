import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { ActivityNote, ActivityStore, ErasureFacts } from '../../domain/activity.ts'
import type { Instant } from '../../domain/instant.ts'
import type { SweepStep } from '../../domain/retention.ts'
import { toPage } from '../page.ts'
import { activityPage, noteColumns, noteValues, toEntry } from '../rows/activity.ts'
import { integer } from '../rows/row.ts'
import { transaction } from './connection.ts'
import type { Connections } from './connections.ts'
import { retentionWindowQueries } from './retention-window.ts'
import { deletionNote } from './scrub.ts'

export function activityStore({
  reader,
  writer,
}: Connections<ReturnType<typeof activityCommands>>): ActivityStore {
  const lists = new Map<string, StatementSync>()
  return {
    add: (note) => writer.run('addActivity', note),
    async list(organisationId, query) {
      const { sql, values } = activityPage(organisationId, query, (index) => `INDEXED BY ${index}`)
      const list = lists.get(sql) ?? reader.prepare(sql)
      lists.set(sql, list)
      return toPage(list.all(...values).map(toEntry), query.limit, ({ at, id }) => ({ at, id }))
    },
  }
}

/** What of an organisation's activity has aged out. */
export function agedActivity(db: DatabaseSync) {
  const windows = retentionWindowQueries(db)
  const anyBefore = db.prepare('SELECT 1 FROM activity WHERE organisation_id = ? AND at < ? LIMIT 1')
  const countBefore = db.prepare(
    'SELECT count(*) AS count FROM activity WHERE organisation_id = ? AND at < ?',
  )
  return {
    /** Whether a step would find something to delete. */
    hasAny(organisationId: string, step: SweepStep): boolean {
      const since = windows.activitySweptBefore(organisationId, step)
      return since !== null && anyBefore.get(organisationId, since) !== undefined
    },
    countBefore: (organisationId: string, since: Instant): number =>
      integer(countBefore.get(organisationId, since) ?? {}, 'count'),
  }
}

export function activityCommands(db: DatabaseSync) {
  const leaveNote = activityNotes(db)
  const owner = db.prepare('SELECT 1 FROM organisations WHERE id = ? AND deleted_at IS NULL')
  const windows = retentionWindowQueries(db)
  const noteDeletion = deletionNote(db)
  const deleteBefore = db.prepare(
    `DELETE FROM activity WHERE organisation_id = ?1 AND (at, id) IN (
       SELECT at, id FROM activity WHERE organisation_id = ?1 AND at < ?2 ORDER BY at, id LIMIT ?3)`,
  )
  return {
    addActivity: (note: ActivityNote): void =>
      transaction(db, () => {
        if (owner.get(note.organisationId)) leaveNote(note)
      }),
    sweepActivity: (organisationId: string, step: SweepStep): { entries: number; isDone: boolean } =>
      transaction(db, () => {
        const since = windows.activitySweptBefore(organisationId, step)
        if (since === null) return { entries: 0, isDone: true }
        const entries = Number(deleteBefore.run(organisationId, since, step.maxRows).changes)
        if (entries > 0) noteDeletion()
        return { entries, isDone: entries < step.maxRows }
      }),
  }
}

/** Leaves an entry behind, within the transaction of the change it tells of. */
export type LeaveNote = (note: ActivityNote | undefined, erasure?: ErasureFacts) => void

export function activityNotes(db: DatabaseSync): LeaveNote {
  const insert = db.prepare(
    `INSERT INTO activity (${noteColumns.join(', ')}) VALUES (${noteColumns.map(() => '?').join(', ')})`,
  )
  return (note, erasure) => {
    if (!note) return
    insert.run(...noteValues(note, erasure))
  }
}
