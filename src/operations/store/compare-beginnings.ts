import { LetheError } from '../../domain/errors.ts'
import { keyOf, type TransferRow, type TransferStore, type TransferTable } from '../../domain/transfer.ts'
import { readPages } from './read-pages.ts'
import { type CopyOptions, canonical, type Figures, lastFirst, Tally } from './verify-copy.ts'

/** How far the target has come with a table: it holds the rows up to a key exactly as the source does, and no others. */
export interface Beginning {
  table: TransferTable
  last: TransferRow | null
  figures: Figures
}

/**
 * Finds out what of each table has been copied. Throws `invalid_request` when a target holds anything but the rows with which the
 * source's tables begin.
 */
export async function compareBeginnings(
  source: TransferStore,
  target: TransferStore,
  options: CopyOptions,
): Promise<Beginning[]> {
  const beginnings: Beginning[] = []
  for (const table of lastFirst(source.tables)) {
    beginnings.unshift(await compareBeginning(source, target, table, options))
  }
  return beginnings
}

async function compareBeginning(
  source: TransferStore,
  target: TransferStore,
  table: TransferTable,
  { signal, onRows }: CopyOptions,
): Promise<Beginning> {
  const tally = new Tally()
  let last: TransferRow | null = null
  for await (const rows of readPages(target, table, { signal })) {
    const text = canonical(rows)
    const expected: TransferRow[] = await source.read(table, last, rows.length)
    if (canonical(expected) !== text) throw foreignTarget(table)
    tally.add(rows, text)
    last = keyOf(table, rows.at(-1) ?? [])
    onRows(rows.length)
  }
  return { table, last, figures: tally.figures() }
}

function foreignTarget({ name }: TransferTable): LetheError {
  return new LetheError(
    'invalid_request',
    `The target is not empty, and what it holds is not what the source holds now: they differ in ${name}. Nothing was changed. Name an empty target.`,
  )
}
