import type { Instant } from '../../domain/instant.ts'
import type { ScrubState } from '../../domain/maintenance.ts'
import type { Run } from './engine.ts'
import { postgresOnly, statement } from './statement.ts'

/** Held together by the deletions that are under way, and for a moment by a scrub alone. */
export const deletionsLock = 1_279_611_753
/** What joins the deletions that are under way, until the transaction ends. `countDeletion` comes in a statement behind it. */
export const joiningDeletions = `pg_advisory_xact_lock_shared(${deletionsLock})`
const joinDeletions = postgresOnly(`SELECT ${joiningDeletions}`)

// On PostgreSQL only the first deletion after a scrub writes the row, so that deletions do not wait for each other.
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
  /** Takes over the state of a scrub from another store. Nothing is scrubbed meanwhile. */
  async adoptScrubState(run: Run, state: ScrubState): Promise<void> {
    await run(adopt, { ...state })
  },
}

/**
 * Notes, within its transaction, that something was deleted: a scrub is due from then on. Whatever deletes rows that lead to a person
 * calls it. The lock keeps a scrub that begins meanwhile from missing the deletion.
 */
export function noteDeletion(run: Run): void {
  run(joinDeletions)
  run(countDeletion)
}
