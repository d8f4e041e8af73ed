import type { Instant } from '../../domain/instant.ts'
import type { ScrubState } from '../../domain/maintenance.ts'
import type { Run } from './engine.ts'
import { postgresOnly, statement } from './statement.ts'

/** Held shared by running deletions, and exclusively for a moment by a scrub. */
export const deletionsLock = 1_279_611_753
/** Joins the running deletions until the transaction ends. Must run before `countDeletion`. */
export const joiningDeletions = `pg_advisory_xact_lock_shared(${deletionsLock})`
const joinDeletions = postgresOnly(`SELECT ${joiningDeletions}`)

// On PostgreSQL only the first deletion after a scrub writes the row, so that deletions do not wait for each
// other.
export const countDeletion = statement(
  'UPDATE scrubs SET deleted_round = round WHERE deleted_round < round',
  'one',
  'UPDATE scrubs SET deletions = deletions + 1',
)
const adopt = statement(
  'UPDATE scrubs SET scrubbed_at = :lastAt, deleted_round = CASE WHEN :isDue THEN round ELSE deleted_round END',
  'one',
  'UPDATE scrubs SET scrubbed_at = :lastAt, deletions = max(deletions, scrubbed_deletions + :isDue)',
)
const noteSweep = statement(
  'INSERT INTO sweeps VALUES (1, :begunAt) ON CONFLICT (id) DO UPDATE SET begun_at = excluded.begun_at',
)

export const scrubTransactions = {
  async noteSweep(run: Run, begunAt: Instant): Promise<void> {
    await run(noteSweep, { begunAt })
  },
  /** Adopts the scrub state of another store. No scrub may run at the same time. */
  async adoptScrubState(run: Run, state: ScrubState): Promise<void> {
    await run(adopt, { ...state })
  },
}

/**
 * Records that something was deleted, so that a scrub is due. Every transaction that deletes rows about a
 * person must call it. The lock keeps a scrub that starts meanwhile from missing the deletion.
 */
export function noteDeletion(run: Run): void {
  run(joinDeletions)
  run(countDeletion)
}
