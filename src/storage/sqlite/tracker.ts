import type { DatabaseSync } from 'node:sqlite'
import type { ActivityNote } from '../../domain/activity.ts'
import type { Tracker, TrackerRef } from '../../domain/tracker.ts'
import { toTracker } from '../rows/tracker.ts'
import { activityNotes } from './activity.ts'
import { transaction } from './connection.ts'

export function trackerQueries(db: DatabaseSync) {
  const find = db.prepare('SELECT * FROM trackers WHERE id = ? AND deleted_at IS NULL')
  const list = db.prepare(
    'SELECT * FROM trackers WHERE organisation_id = ? AND deleted_at IS NULL ORDER BY created_at, id',
  )
  return {
    find(id: string): Tracker | null {
      const row = find.get(id)
      return row ? toTracker(row) : null
    },
    list: (organisationId: string): Tracker[] => list.all(organisationId).map(toTracker),
  }
}

export function trackerCommands(db: DatabaseSync) {
  const leaveNote = activityNotes(db)
  const insert = db.prepare(
    `INSERT INTO trackers (id, organisation_id, name, created_at)
     SELECT ?1, id, ?3, ?4 FROM organisations WHERE id = ?2 AND deleted_at IS NULL ON CONFLICT DO NOTHING`,
  )
  const rename = db.prepare(
    'UPDATE trackers SET name = ? WHERE id = ? AND organisation_id = ? AND deleted_at IS NULL',
  )
  return {
    createTracker: ({ id, organisationId, name, createdAt }: Tracker, note?: ActivityNote): boolean =>
      transaction(db, () => {
        const isCreated = insert.run(id, organisationId, name, createdAt).changes === 1
        if (isCreated) leaveNote(note)
        return isCreated
      }),
    renameTracker: ({ trackerId, organisationId }: TrackerRef, name: string, note: ActivityNote): boolean =>
      transaction(db, () => {
        if (rename.run(name, trackerId, organisationId).changes === 0) return false
        leaveNote(note)
        return true
      }),
  }
}

/** Tells whether a tracker exists and is the organisation's. */
export type TrackerVisibility = (tracker: TrackerRef) => boolean

export function trackerVisibility(db: DatabaseSync): TrackerVisibility {
  const owner = db.prepare('SELECT organisation_id FROM trackers WHERE id = ? AND deleted_at IS NULL')
  return ({ trackerId, organisationId }) => owner.get(trackerId)?.organisation_id === organisationId
}
