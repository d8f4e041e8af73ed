import { LetheError } from '../domain/errors.ts'
import { keyOf, type TransferRow, type TransferStore, type TransferTable } from '../domain/store.ts'
import {
  type CopyEnds,
  type CopyOptions,
  canonical,
  concludeCopy,
  type Figures,
  lastFirst,
  readPages,
  Tally,
  type Verification,
  verifyCopy,
} from './verify-copy.ts'

/** The maximum size of a transaction. */
export const maxBatchRows = 5_000
const maxBatchText = 8 * 1024 * 1024

export type CopyStep = 'comparing' | 'copying' | 'verifying'

interface CopyStoreOptions extends Pick<CopyOptions, 'signal'> {
  /** Called with the number of rows done. */
  onRows(step: CopyStep, count: number): void
}

export interface CopyResult {
  copiedRows: number
  verification: Verification
}

/**
 * Copies the rows that the target lacks, then compares both stores completely. After an interruption, it
 * continues after the rows that were copied. Throws `invalid_request` if the target holds other rows.
 */
export async function copyStore(ends: CopyEnds, { signal, onRows }: CopyStoreOptions): Promise<CopyResult> {
  const { source, target } = ends
  const during = (step: CopyStep): CopyOptions => ({ signal, onRows: (count) => onRows(step, count) })
  const beginnings = await compareBeginnings(source.transfer, target.transfer, during('comparing'))
  let copiedRows = 0
  for (const { table, last } of beginnings) {
    copiedRows += await copyTable(ends, table, last, during('copying'))
  }
  await target.transfer.adoptScrubState(await source.maintenance.scrubState())
  if (copiedRows > 0) return { copiedRows, verification: await verifyCopy(ends, during('verifying')) }
  // Nothing was missing, so the comparison covered everything.
  const compared = beginnings.map(({ table, figures }) => ({ table, figures: [figures, figures] as const }))
  return { copiedRows, verification: await concludeCopy(ends, compared) }
}

/** Copies the rows after a key, reading the next batch while one is written. */
async function copyTable(
  { source, target }: CopyEnds,
  table: TransferTable,
  after: TransferRow | null,
  { signal, onRows }: CopyOptions,
): Promise<number> {
  let batch: TransferRow[] = []
  let text = 0
  let copied = 0
  let storing = Promise.resolve()

  async function store(rows: readonly TransferRow[]): Promise<void> {
    if (rows.length === 0) return
    await target.transfer.add(table, rows)
    copied += rows.length
    onRows(rows.length)
  }

  /** Only one batch is being written, so that memory use stays constant. */
  async function handOver(): Promise<void> {
    const rows = batch
    batch = []
    text = 0
    await storing
    storing = store(rows)
    // The next `await` reports a failure.
    storing.catch(() => {})
  }

  for await (const rows of readPages(source.transfer, table, { after, signal })) {
    batch.push(...rows)
    text += textLength(rows)
    if (batch.length >= maxBatchRows || text >= maxBatchText) await handOver()
  }
  await handOver()
  await storing
  return copied
}

function textLength(rows: readonly TransferRow[]): number {
  let length = 0
  for (const row of rows) for (const value of row) if (typeof value === 'string') length += value.length
  return length
}

/** The part of a table that the target holds exactly as the source does. */
interface Beginning {
  table: TransferTable
  last: TransferRow | null
  figures: Figures
}

/** Throws `invalid_request` if the target holds anything other than the first rows of the source's tables. */
async function compareBeginnings(
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
    `The target is not empty, and its data differs from the source in ${name}. Nothing was changed. Use an empty target.`,
  )
}

export async function countRows(store: TransferStore): Promise<number> {
  let rows = 0
  for (const table of store.tables) rows += await store.count(table)
  return rows
}
