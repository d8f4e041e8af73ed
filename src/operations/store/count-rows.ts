import type { TransferStore } from '../../domain/transfer.ts'

/** How many rows a store has in all its tables. */
export async function countRows(store: TransferStore): Promise<number> {
  let rows = 0
  for (const table of store.tables) rows += await store.count(table)
  return rows
}
