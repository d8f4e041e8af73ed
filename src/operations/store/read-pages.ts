import { setImmediate as nextTurn } from 'node:timers/promises'
import { keyOf, type TransferRow, type TransferStore, type TransferTable } from '../../domain/transfer.ts'

/** Few, because a row may have a megabyte. */
export const maxPageRows = 250

interface Reading {
  /** The key behind which to begin. */
  after?: TransferRow | null
  /** Ends the reading with an error: the signal's reason. */
  signal?: AbortSignal | undefined
}

/** Reads a table page by page in the order of its keys. Other work has its turn in between, however quickly the store answers. */
export async function* readPages(
  store: TransferStore,
  table: TransferTable,
  { after = null, signal }: Reading = {},
): AsyncGenerator<TransferRow[]> {
  for (;;) {
    signal?.throwIfAborted()
    const rows = await store.read(table, after, maxPageRows)
    const last = rows.at(-1)
    if (last === undefined) return
    yield rows
    after = keyOf(table, last)
    await nextTurn()
  }
}
