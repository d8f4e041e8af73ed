import { text } from '../rows/row.ts'
import { statement } from './statement.ts'
import type { Run } from './transact.ts'

// Not FOR KEY SHARE, which others may hold too: on a cluster whoever then writes wants the lock alone, and two of them wait for each
// other. Notes, which refer to the row, need not wait.
const holdOne = statement(
  'SELECT 1 FROM organisations WHERE id = $1 AND deleted_at IS NULL FOR NO KEY UPDATE',
)
const holdRow = statement('SELECT 1 FROM organisations WHERE id = $1 FOR NO KEY UPDATE')
// In one order, so that two transactions do not wait for each other in a circle.
const holdSeveral = statement(
  'SELECT id, organisation_id FROM trackers WHERE id = ANY ($1) AND deleted_at IS NULL ORDER BY id FOR KEY SHARE',
)
// Finds no row. On a cluster it locks the table all the same.
const turn = statement(`SELECT 1 FROM organisations WHERE id = '' FOR NO KEY UPDATE`)

/**
 * Goes first in a transaction that changes rows of which every node of a cluster has a copy, unless it holds their organisation. Such
 * a change locks its table and then the organisations; two that lock them in different orders would wait for each other.
 */
export function takeTurn(run: Run): void {
  run(turn)
}

/** Keeps an organisation from being deleted before the transaction ends that adds to it. `false` when it is not there. */
export async function holdOrganisation(run: Run, id: string): Promise<boolean> {
  return (await run(holdOne, [id])).rowCount === 1
}

/** The same for one that may have been deleted and is still being removed. */
export async function holdOrganisationRow(run: Run, id: string): Promise<boolean> {
  return (await run(holdRow, [id])).rowCount === 1
}

/** The same for trackers; hands back the organisations of those that are there, by tracker. */
export async function holdTrackers(run: Run, ids: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await run(holdSeveral, [ids])
  return new Map(rows.map((row) => [text(row, 'id'), text(row, 'organisation_id')]))
}
