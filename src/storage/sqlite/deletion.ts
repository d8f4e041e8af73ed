import type { DatabaseSync } from 'node:sqlite'
import type { ActivityNote } from '../../domain/activity.ts'
import type { DeletionStore } from '../../domain/deletion.ts'
import type { Instant } from '../../domain/instant.ts'
import type { SweptCounts } from '../../domain/retention.ts'
import type { TrackerRef } from '../../domain/tracker.ts'
import { afterEverything, toHeldCounts } from '../rows/deletion.ts'
import { toOrganisation } from '../rows/organisation.ts'
import { toTracker } from '../rows/tracker.ts'
import { activityNotes } from './activity.ts'
import { transaction } from './connection.ts'
import type { Connections } from './connections.ts'
import { batchForgetting } from './erasure-batch.ts'
import { deletionNote } from './scrub.ts'
import { trackerSweep } from './sweep.ts'

export function deletionStore({
  reader,
  writer,
}: Connections<ReturnType<typeof deletionCommands>>): DeletionStore {
  const trackers = reader.prepare(
    'SELECT * FROM trackers WHERE deleted_at IS NOT NULL ORDER BY deleted_at, id',
  )
  const organisations = reader.prepare(
    'SELECT * FROM organisations WHERE deleted_at IS NOT NULL ORDER BY deleted_at, id',
  )
  const count = reader.prepare(
    `SELECT count(*) AS subjects, total(session_count) AS sessions, total(event_count) AS events
     FROM subjects WHERE tracker_id = ?`,
  )
  return {
    deleteTracker: (tracker, name, now, note) => writer.run('deleteTracker', tracker, name, now, note),
    deleteOrganisation: (id, name, now, note) => writer.run('deleteOrganisation', id, name, now, note),
    listTrackers: async () => trackers.all().map(toTracker),
    listOrganisations: async () => organisations.all().map(toOrganisation),
    count: async (trackerId) => toHeldCounts(count.get(trackerId) ?? {}),
    removeTracker: (trackerId, maxRows) => writer.run('removeTracker', trackerId, maxRows),
    removeOrganisation: (id) => writer.run('removeOrganisation', id),
  }
}

export function deletionCommands(db: DatabaseSync) {
  const leaveNote = activityNotes(db)
  const noteDeletion = deletionNote(db)
  const sweepBefore = trackerSweep(db)
  const markTracker = db.prepare(
    `UPDATE trackers SET deleted_at = ? WHERE id = ? AND organisation_id = ? AND name = ? AND deleted_at IS NULL`,
  )
  const markOrganisation = db.prepare(
    'UPDATE organisations SET deleted_at = ? WHERE id = ? AND name = ? AND deleted_at IS NULL',
  )
  const markTrackers = db.prepare(
    'UPDATE trackers SET deleted_at = ? WHERE organisation_id = ? AND deleted_at IS NULL',
  )
  const endSignIns = db.prepare(
    'DELETE FROM sign_ins WHERE member_id IN (SELECT id FROM members WHERE organisation_id = ?)',
  )
  const removeMembers = db.prepare('DELETE FROM members WHERE organisation_id = ?')
  const removeKeyDays = db.prepare(
    'DELETE FROM key_days WHERE key_id IN (SELECT id FROM api_keys WHERE organisation_id = ?)',
  )
  const removeKeys = db.prepare('DELETE FROM api_keys WHERE organisation_id = ?')
  const removeBatchItems = db.prepare(
    `DELETE FROM erasure_batch_items WHERE batch_id IN (SELECT id FROM erasure_batches WHERE organisation_id = ?)`,
  )
  const removeBatches = db.prepare('DELETE FROM erasure_batches WHERE organisation_id = ?')
  const forgetWaiting = batchForgetting(db)
  const deleted = db.prepare('SELECT 1 FROM trackers WHERE id = ? AND deleted_at IS NOT NULL')
  const removeDailyEvents = db.prepare(
    `DELETE FROM daily_events WHERE tracker_id = ?1 AND (day, name) IN (
       SELECT day, name FROM daily_events WHERE tracker_id = ?1 ORDER BY day, name LIMIT ?2)`,
  )
  const removeDailySessions = db.prepare('DELETE FROM daily_sessions WHERE tracker_id = ?')
  const removeTracker = db.prepare('DELETE FROM trackers WHERE id = ?')
  const forgettable = db.prepare(
    `SELECT 1 FROM organisations WHERE id = ?1 AND deleted_at IS NOT NULL
     AND NOT EXISTS (SELECT 1 FROM trackers WHERE organisation_id = ?1)
     AND NOT EXISTS (SELECT 1 FROM activity WHERE organisation_id = ?1)`,
  )
  const removeWindows = db.prepare('DELETE FROM retention_windows WHERE organisation_id = ?')
  const removeLedger = db.prepare('DELETE FROM ledger_entries WHERE organisation_id = ?')
  const removeNames = db.prepare('DELETE FROM identifier_names WHERE organisation_id = ?')
  const removeOrganisation = db.prepare('DELETE FROM organisations WHERE id = ?')
  return {
    deleteTracker: (tracker: TrackerRef, name: string, now: Instant, note: ActivityNote): boolean =>
      transaction(db, () => {
        if (markTracker.run(now, tracker.trackerId, tracker.organisationId, name).changes === 0) return false
        leaveNote(note)
        return true
      }),
    deleteOrganisation: (id: string, name: string, now: Instant, note: ActivityNote): boolean =>
      transaction(db, () => {
        if (markOrganisation.run(now, id, name).changes === 0) return false
        markTrackers.run(now, id)
        for (const remove of [
          endSignIns,
          removeMembers,
          removeKeyDays,
          removeKeys,
          removeBatchItems,
          removeBatches,
        ])
          remove.run(id)
        noteDeletion()
        leaveNote(note)
        return true
      }),
    removeTracker: (trackerId: string, maxRows: number): SweptCounts & { isDone: boolean } =>
      transaction(db, () => {
        if (!deleted.get(trackerId)) return { subjects: 0, sessions: 0, events: 0, isDone: true }
        const swept = sweepBefore(trackerId, afterEverything, maxRows)
        if (!swept.isDone) return swept
        if (Number(removeDailyEvents.run(trackerId, maxRows).changes) === maxRows) {
          return { ...swept, isDone: false }
        }
        removeDailySessions.run(trackerId)
        forgetWaiting(trackerId)
        removeTracker.run(trackerId)
        noteDeletion()
        return swept
      }),
    removeOrganisation: (id: string): void =>
      transaction(db, () => {
        if (!forgettable.get(id)) return
        removeWindows.run(id)
        removeLedger.run(id)
        removeNames.run(id)
        removeOrganisation.run(id)
        noteDeletion()
      }),
  }
}
