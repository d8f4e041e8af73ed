import type { DatabaseSync } from 'node:sqlite'
import type { ActivityNote } from '../../domain/activity.ts'
import type { Tracker, TrackerRef, TrackerStore } from '../../domain/tracker.ts'
import { toTracker } from '../rows/tracker.ts'
import { activityNotes } from './activity.ts'
import { transaction } from './connection.ts'
import type { Connections } from './connections.ts'

export function trackerStore({
  reader,
  writer,
}: Connections<ReturnType<typeof trackerCommands>>): TrackerStore {
  const find = reader.prepare('SELECT * FROM trackers WHERE id = ? AND deleted_at IS NULL')
  const list = reader.prepare(
    'SELECT * FROM trackers WHERE organisation_id = ? AND deleted_at IS NULL ORDER BY created_at, id',
  )
  return {
    create: (tracker, note) => writer.run('createTracker', tracker, note),
    async find(id) {
      const row = find.get(id)
      return row ? toTracker(row) : null
    },
    list: async (organisationId) => list.all(organisationId).map(toTracker),
    rename: (tracker, name, note) => writer.run('renameTracker', tracker, name, note),
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
