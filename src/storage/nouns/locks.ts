import type { TrackerRef } from '../../domain/tracker.ts'
import type { Run } from './engine.ts'
import { postgresOnly, statement } from './statement.ts'

// On PostgreSQL transactions run concurrently and need these locks. SQLite has a single writer: there they
// only check that a row exists, or do nothing.

// Not FOR KEY SHARE, which several transactions can hold: two that then change the row would deadlock.
// Inserting activity, which references the row, need not wait.
const lockPresent = statement(
  'SELECT 1 FROM organisations WHERE id = :id AND deleted_at IS NULL FOR NO KEY UPDATE',
)
const lockRow = statement('SELECT 1 FROM organisations WHERE id = :id FOR NO KEY UPDATE')
const lockVisible = statement(
  `SELECT 1 FROM trackers WHERE id = :trackerId AND organisation_id = :organisationId AND deleted_at IS NULL
   FOR NO KEY UPDATE`,
)

/** Held exclusively to change a plan or a window, and shared to delete by them. */
const windowsLock = 1_279_611_754
const lockAllWindows = postgresOnly(`SELECT pg_advisory_xact_lock(${windowsLock})`)
const shareAllWindows = postgresOnly(`SELECT pg_advisory_xact_lock_shared(${windowsLock})`)

/** Keeps a tracker from being deleted, and its variables and tokens from being changed by others. */
export async function lockTracker(run: Run, { organisationId, trackerId }: TrackerRef): Promise<boolean> {
  return (await run(lockVisible, { organisationId, trackerId })).count === 1
}

/** Keeps an organisation from being deleted until the transaction ends. `false` if it does not exist. */
export async function lockOrganisation(run: Run, id: string): Promise<boolean> {
  return (await run(lockPresent, { id })).count === 1
}

/** Like `lockOrganisation`, for an organisation that may have been deleted and is still being removed. */
export async function lockOrganisationRow(run: Run, id: string): Promise<boolean> {
  return (await run(lockRow, { id })).count === 1
}

/**
 * Waits for transactions that delete by the current plans and windows, and blocks new ones until this one
 * ends.
 */
export async function lockWindows(run: Run): Promise<void> {
  await run(lockAllWindows)
}

/** Keeps plans and windows unchanged until the transaction ends. */
export async function shareWindows(run: Run): Promise<void> {
  await run(shareAllWindows)
}
