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

/** How many rows, and how much text, share a transaction at most. */
export const maxBatchRows = 5_000
const maxBatchText = 8 * 1024 * 1024

export type CopyStep = 'comparing' | 'copying' | 'verifying'

interface CopyStoreOptions extends Pick<CopyOptions, 'signal'> {
  /** Called with so many more rows done of a step. */
  onRows(step: CopyStep, count: number): void
}

export interface CopyResult {
  /** How many rows were missing in the target. */
  copiedRows: number
  verification: Verification
}

/**
 * Copies every row that the target is missing, and then compares both stores from end to end. Broken off at any moment and run again,
 * it goes on behind the rows that are there. Throws `invalid_request`, with nothing changed, when those are not the source's.
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
  // Nothing was missing, so the comparison went from end to end.
  const compared = beginnings.map(({ table, figures }) => ({ table, figures: [figures, figures] as const }))
  return { copiedRows, verification: await concludeCopy(ends, compared) }
}

/** Copies the rows behind a key; the next batch is read while one is stored. Hands back how many they were. */
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

  /** At most one batch is on its way to the store, so memory stays flat. */
  async function handOver(): Promise<void> {
    const rows = batch
    batch = []
    text = 0
    await storing
    storing = store(rows)
    // Whoever waits for it next hears of a failure.
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

/** How far the target has come with a table: it holds the rows up to a key exactly as the source does, and no others. */
interface Beginning {
  table: TransferTable
  last: TransferRow | null
  figures: Figures
}

/**
 * Finds out what of each table has been copied. Throws `invalid_request` when a target holds anything but the rows with which the
 * source's tables begin.
 */
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
    `The target is not empty, and what it holds is not what the source holds now: they differ in ${name}. Nothing was changed. Name an empty target.`,
  )
}

/** How many rows a store has in all its tables. */
export async function countRows(store: TransferStore): Promise<number> {
  let rows = 0
  for (const table of store.tables) rows += await store.count(table)
  return rows
}
