import type { DeletionStore } from '../../domain/deletion.ts'
import { afterEverything, toHeldCounts } from '../rows/deletion.ts'
import { toOrganisation } from '../rows/organisation.ts'
import { toTracker } from '../rows/tracker.ts'
import { leaveNote } from './activity.ts'
import type { Connections } from './connections.ts'
import { forgetWaiting, removeBatches, removeBatchItems } from './erasure-batch.ts'
import { takeTurn } from './hold-owner.ts'
import { sweepBefore } from './retention.ts'
import { holdWindows } from './retention-window.ts'
import { noteDeletion } from './scrub.ts'
import { statement } from './statement.ts'

// Each waits for those who are adding to the row, and those who come later find it deleted: see the migration.
const markTracker = statement(
  'UPDATE trackers SET deleted_at = $1 WHERE id = $2 AND organisation_id = $3 AND name = $4 AND deleted_at IS NULL',
)
const markOrganisation = statement(
  'UPDATE organisations SET deleted_at = $1 WHERE id = $2 AND name = $3 AND deleted_at IS NULL',
)
const markTrackers = statement(
  'UPDATE trackers SET deleted_at = $1 WHERE organisation_id = $2 AND deleted_at IS NULL',
)
// A sign-in that is beginning goes first, so that it is seen and ended.
const lockMembers = statement('SELECT 1 FROM members WHERE organisation_id = $1 ORDER BY id FOR UPDATE')
const endSignIns = statement(
  'DELETE FROM sign_ins WHERE member_id IN (SELECT id FROM members WHERE organisation_id = $1)',
)
const removeMembers = statement('DELETE FROM members WHERE organisation_id = $1')
const removeKeyDays = statement(
  'DELETE FROM key_days WHERE key_id IN (SELECT id FROM api_keys WHERE organisation_id = $1)',
)
const removeKeys = statement('DELETE FROM api_keys WHERE organisation_id = $1')

const trackers = statement(
  `SELECT id, organisation_id, name, created_at FROM trackers WHERE deleted_at IS NOT NULL ORDER BY deleted_at, id`,
)
const organisations = statement(
  'SELECT id, name, plan, created_at FROM organisations WHERE deleted_at IS NOT NULL ORDER BY deleted_at, id',
)
const count = statement(
  `SELECT count(*) AS subjects, coalesce(sum(session_count), 0)::bigint AS sessions,
     coalesce(sum(event_count), 0)::bigint AS events FROM subjects WHERE tracker_id = $1`,
  'any',
)

const deleted = statement('SELECT 1 FROM trackers WHERE id = $1 AND deleted_at IS NOT NULL')
const removeDailyEvents = statement(
  `DELETE FROM daily_events WHERE tracker_id = $1 AND (day, name) IN (
     SELECT day, name FROM daily_events WHERE tracker_id = $1 ORDER BY day, name LIMIT $2)`,
)
const removeDailySessions = statement('DELETE FROM daily_sessions WHERE tracker_id = $1')
const removeTracker = statement('DELETE FROM trackers WHERE id = $1')

const forgettable = statement(
  `SELECT 1 FROM organisations WHERE id = $1 AND deleted_at IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM trackers WHERE organisation_id = $1)
   AND NOT EXISTS (SELECT 1 FROM activity WHERE organisation_id = $1) FOR UPDATE`,
)
const removeWindows = statement('DELETE FROM retention_windows WHERE organisation_id = $1')
const removeLedger = statement('DELETE FROM ledger_entries WHERE organisation_id = $1')
const removeNames = statement('DELETE FROM identifier_names WHERE organisation_id = $1')
const removeOrganisation = statement('DELETE FROM organisations WHERE id = $1')

export function deletionStore(connections: Connections): DeletionStore {
  return {
    deleteTracker: ({ trackerId, organisationId }, name, now, note) =>
      connections.revocation(async (run) => {
        takeTurn(run)
        if ((await run(markTracker, [now, trackerId, organisationId, name])).rowCount === 0) return false
        leaveNote(run, note)
        return true
      }),
    deleteOrganisation: (id, name, now, note) =>
      connections.revocation(async (run) => {
        if ((await run(markOrganisation, [now, id, name])).rowCount === 0) return false
        await run(markTrackers, [now, id])
        const people = [
          lockMembers,
          endSignIns,
          removeMembers,
          removeKeyDays,
          removeKeys,
          removeBatchItems,
          removeBatches,
        ]
        for (const each of people) await run(each, [id])
        noteDeletion(run)
        leaveNote(run, note)
        return true
      }),
    listTrackers: async () => (await connections.read(trackers, [])).map(toTracker),
    listOrganisations: async () => (await connections.read(organisations, [])).map(toOrganisation),
    // Not as a read, which may take only seconds.
    count: (trackerId) =>
      connections.transaction(async (run) => toHeldCounts((await run(count, [trackerId])).rows[0] ?? {})),
    async removeTracker(trackerId, maxRows) {
      const nothing = { subjects: 0, sessions: 0, events: 0, isDone: true }
      if ((await connections.read(deleted, [trackerId])).length === 0) return nothing
      const everything = async () => afterEverything
      const swept = await sweepBefore(connections, trackerId, afterEverything, maxRows, everything)
      if (!swept.isDone) return swept
      return connections.transaction(async (run) => {
        takeTurn(run)
        const { rowCount } = await run(removeDailyEvents, [trackerId, maxRows])
        if (rowCount === maxRows) return { ...swept, isDone: false }
        await run(removeDailySessions, [trackerId])
        await forgetWaiting(run, trackerId)
        await run(removeTracker, [trackerId])
        noteDeletion(run)
        return swept
      })
    },
    removeOrganisation: (id) =>
      connections.transaction(async (run) => {
        // Nobody remembers a window of it meanwhile.
        await holdWindows(run)
        if ((await run(forgettable, [id])).rowCount === 0) return
        await run(removeWindows, [id])
        await run(removeLedger, [id])
        await run(removeNames, [id])
        await run(removeOrganisation, [id])
        noteDeletion(run)
      }),
  }
}
