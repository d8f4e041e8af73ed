import type { Run } from './engine.ts'
import { postgresOnly, statement } from './statement.ts'

// On PostgreSQL transactions run side by side, and these keep them apart. SQLite has one writer: there they only look, or do nothing.

// Not FOR KEY SHARE, which others may hold too: on a cluster whoever then writes wants the lock alone, and two of them wait for each
// other. Activity, which refers to the row, need not wait.
const lockPresent = statement(
  'SELECT 1 FROM organisations WHERE id = :id AND deleted_at IS NULL FOR NO KEY UPDATE',
)
const lockRow = statement('SELECT 1 FROM organisations WHERE id = :id FOR NO KEY UPDATE')
// Finds no row. On a cluster it locks the table all the same.
const lockTable = postgresOnly(`SELECT 1 FROM organisations WHERE id = '' FOR NO KEY UPDATE`)

/** Held by whoever changes a plan or a remembered window, alone; and by those who delete by them, together. */
const windowsLock = 1_279_611_754
const lockAllWindows = postgresOnly(`SELECT pg_advisory_xact_lock(${windowsLock})`)
const shareAllWindows = postgresOnly(`SELECT pg_advisory_xact_lock_shared(${windowsLock})`)

/** Keeps an organisation from being deleted before the transaction ends that adds to it. `false` when it is not there. */
export async function lockOrganisation(run: Run, id: string): Promise<boolean> {
  return (await run(lockPresent, { id })).count === 1
}

/** The same for one that may have been deleted and is still being removed. */
export async function lockOrganisationRow(run: Run, id: string): Promise<boolean> {
  return (await run(lockRow, { id })).count === 1
}

/**
 * Goes first in a transaction that changes tables of which every node of a cluster has a copy, unless it locks their organisation. Such
 * a change locks its table and then the organisations; two that lock them in different orders would wait for each other.
 */
export function lockReferenceTables(run: Run): void {
  run(lockTable)
}

/** Waits for the steps that delete by plans and windows as they are, and keeps others waiting until the transaction ends. */
export async function lockWindows(run: Run): Promise<void> {
  await run(lockAllWindows)
}

/** Keeps plans and windows as they are until the transaction ends. */
export async function shareWindows(run: Run): Promise<void> {
  await run(shareAllWindows)
}
