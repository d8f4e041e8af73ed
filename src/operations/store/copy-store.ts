import type { TransferRow, TransferTable } from '../../domain/transfer.ts'
import { compareBeginnings } from './compare-beginnings.ts'
import { readPages } from './read-pages.ts'
import {
  type CopyEnds,
  type CopyOptions,
  concludeCopy,
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
