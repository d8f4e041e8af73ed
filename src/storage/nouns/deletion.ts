import type { ActivityNote } from '../../domain/activity.ts'
import type { DeletionStore } from '../../domain/deletion.ts'
import type { Instant } from '../../domain/instant.ts'
import type { TrackerRef } from '../../domain/tracker.ts'
import { insertActivity } from './activity.ts'
import type { Engine, Run } from './engine.ts'
import { lockWindows } from './locks.ts'
import { toOrganisation } from './organisation.ts'
import { integer } from './row.ts'
import { noteDeletion } from './scrub.ts'
import { postgresOnly, type Statement, statement } from './statement.ts'
import { toTracker } from './tracker.ts'

// Waits for transactions that add to the row; later ones find it deleted (see the migration).
const markTracker = statement(
  `UPDATE trackers SET deleted_at = :now
   WHERE id = :trackerId AND organisation_id = :organisationId AND name = :name AND deleted_at IS NULL`,
)
const markOrganisation = statement(
  'UPDATE organisations SET deleted_at = :now WHERE id = :id AND name = :name AND deleted_at IS NULL',
)
const markTrackers = statement(
  'UPDATE trackers SET deleted_at = :now WHERE organisation_id = :id AND deleted_at IS NULL',
)
// Waits for a sign-in that is being created, so that it is deleted too.
const lockMembers = postgresOnly('SELECT 1 FROM members WHERE organisation_id = :id ORDER BY id FOR UPDATE')
const ofOrganisation = (table: string) => `(SELECT id FROM ${table} WHERE organisation_id = :id)`
const accessAndRequests: readonly Statement[] = [
  ...['sign_ins', 'passkeys', 'recovery_codes', 'sign_in_challenges'].map((table) =>
    statement(`DELETE FROM ${table} WHERE member_id IN ${ofOrganisation('members')}`),
  ),
  statement('DELETE FROM members WHERE organisation_id = :id'),
  statement(`DELETE FROM key_days WHERE key_id IN ${ofOrganisation('api_keys')}`),
  statement('DELETE FROM api_keys WHERE organisation_id = :id'),
  statement('DELETE FROM privacy_request_items WHERE organisation_id = :id'),
  statement('DELETE FROM privacy_request_people WHERE organisation_id = :id'),
  statement('DELETE FROM privacy_request_notes WHERE organisation_id = :id'),
  statement('DELETE FROM privacy_request_exclusions WHERE organisation_id = :id'),
  statement('DELETE FROM privacy_requests WHERE organisation_id = :id'),
  statement('DELETE FROM organisation_profiles WHERE organisation_id = :id'),
  statement('DELETE FROM organisation_logos WHERE organisation_id = :id'),
  statement('DELETE FROM reply_texts WHERE organisation_id = :id'),
  statement('DELETE FROM sign_in_rules WHERE organisation_id = :id'),
  statement('DELETE FROM approval_rules WHERE organisation_id = :id'),
]

const listTrackers = statement(
  'SELECT id, organisation_id, name, created_at FROM trackers WHERE deleted_at IS NOT NULL ORDER BY deleted_at, id',
)
const listOrganisations = statement(
  'SELECT id, name, plan, created_at FROM organisations WHERE deleted_at IS NOT NULL ORDER BY deleted_at, id',
)
const count = statement(
  `SELECT count(*) AS subjects, coalesce(sum(session_count), 0)::bigint AS sessions,
     coalesce(sum(event_count), 0)::bigint AS events FROM subjects WHERE tracker_id = :trackerId`,
  'any',
)

const deleted = statement('SELECT 1 FROM trackers WHERE id = :trackerId AND deleted_at IS NOT NULL')
const removeDailyEvents = statement(
  `DELETE FROM daily_events WHERE tracker_id = :trackerId AND (day, name) IN (
     SELECT day, name FROM daily_events WHERE tracker_id = :trackerId ORDER BY day, name LIMIT :maxRows)`,
)
const removeDailySessions = statement('DELETE FROM daily_sessions WHERE tracker_id = :trackerId')
const markRequestItemsDeleted = statement(
  `UPDATE privacy_request_items SET outcome = 'gone', subject_id = NULL
   WHERE tracker_id = :trackerId AND subject_id IS NOT NULL`,
)
const removeVersions = statement('DELETE FROM variable_versions WHERE tracker_id = :trackerId')
const removeTokens = statement('DELETE FROM variable_tokens WHERE tracker_id = :trackerId')
const removeTracker = statement('DELETE FROM trackers WHERE id = :trackerId')

const removable = statement(
  `SELECT 1 FROM organisations WHERE id = :id AND deleted_at IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM trackers WHERE organisation_id = :id)
   AND NOT EXISTS (SELECT 1 FROM activity WHERE organisation_id = :id) FOR UPDATE`,
)
const organisationRows: readonly Statement[] = [
  statement('DELETE FROM retention_windows WHERE organisation_id = :id'),
  statement('DELETE FROM ledger_entries WHERE organisation_id = :id'),
  statement('DELETE FROM identifier_names WHERE organisation_id = :id'),
  statement('DELETE FROM organisations WHERE id = :id'),
]

export const deletionTransactions = {
  async deleteTracker(
    run: Run,
    tracker: TrackerRef,
    name: string,
    now: Instant,
    note: ActivityNote,
  ): Promise<boolean> {
    if ((await run(markTracker, { ...tracker, name, now })).count === 0) return false
    insertActivity(run, note)
    return true
  },
  async deleteOrganisation(
    run: Run,
    id: string,
    name: string,
    now: Instant,
    note: ActivityNote,
  ): Promise<boolean> {
    if ((await run(markOrganisation, { id, name, now })).count === 0) return false
    await run(markTrackers, { id, now })
    await run(lockMembers, { id })
    for (const each of accessAndRequests) await run(each, { id })
    noteDeletion(run)
    insertActivity(run, note)
    return true
  },
  /** Removes a tracker that holds no more subjects, with everything else it has. */
  async removeTracker(run: Run, trackerId: string, maxRows: number): Promise<{ isDone: boolean }> {
    if ((await run(removeDailyEvents, { trackerId, maxRows })).count === maxRows) return { isDone: false }
    await run(removeDailySessions, { trackerId })
    await run(markRequestItemsDeleted, { trackerId })
    await run(removeVersions, { trackerId })
    await run(removeTokens, { trackerId })
    await run(removeTracker, { trackerId })
    noteDeletion(run)
    return { isDone: true }
  },
  async removeOrganisation(run: Run, id: string): Promise<void> {
    // Keeps others from adding a window for it.
    await lockWindows(run)
    if ((await run(removable, { id })).count === 0) return
    for (const each of organisationRows) await run(each, { id })
    noteDeletion(run)
  },
}

/** `sweepAll` deletes about `maxRows` rows of a tracker's data, whatever their age. */
export function deletionStore(
  engine: Engine<typeof deletionTransactions>,
  sweepAll: DeletionStore['removeTracker'],
): DeletionStore {
  return {
    deleteTracker: (tracker, name, now, note) => engine.revoke('deleteTracker', tracker, name, now, note),
    deleteOrganisation: (id, name, now, note) => engine.revoke('deleteOrganisation', id, name, now, note),
    listTrackers: async () => (await engine.read(listTrackers)).map(toTracker),
    listOrganisations: async () => (await engine.read(listOrganisations)).map(toOrganisation),
    async count(trackerId) {
      const [row = {}] = await engine.readLong(count, { trackerId })
      return {
        subjects: integer(row, 'subjects'),
        sessions: integer(row, 'sessions'),
        events: integer(row, 'events'),
      }
    },
    async removeTracker(trackerId, maxRows) {
      const isDeleted = (await engine.read(deleted, { trackerId })).length === 1
      if (!isDeleted) return { subjects: 0, sessions: 0, events: 0, isDone: true }
      const swept = await sweepAll(trackerId, maxRows)
      if (!swept.isDone) return swept
      return { ...swept, ...(await engine.transact('removeTracker', trackerId, maxRows)) }
    },
    removeOrganisation: (id) => engine.transact('removeOrganisation', id),
  }
}
