import { createHash } from 'node:crypto'
import type { Store } from '../domain/store.ts'
import type { TransferRow, TransferStore, TransferTable } from '../domain/transfer.ts'
import type { ScrubState } from '../domain/upkeep.ts'
import { readPages } from './read-pages.ts'

/** Two stores, as far as a copy has to do with them. */
export interface CopyEnds {
  source: Pick<Store, 'transfer' | 'upkeep'>
  target: Pick<Store, 'transfer' | 'upkeep'>
}

export interface CopyOptions {
  /** Ends the work with an error: the signal's reason. */
  signal?: AbortSignal | undefined
  /** Called with so many more rows done. */
  onRows(count: number): void
}

/** How many rows a table has, and a hash over all of them in the order of their keys. */
export interface Figures {
  rows: number
  checksum: string
}

export interface VerifiedTable {
  table: string
  source: Figures
  target: Figures
  isSame: boolean
}

export interface Verification {
  tables: VerifiedTable[]
  /** A scrub that is due in the source must be due in the target; not the other way. */
  scrub: { source: ScrubState; target: ScrubState; isSame: boolean }
}

/** Reads both stores from end to end and compares them, table by table. The rows of both are told to `onRows`. */
export async function verifyCopy(ends: CopyEnds, options: CopyOptions): Promise<Verification> {
  const { source, target } = ends
  const tables: VerifiedTable[] = []
  for (const table of lastFirst(source.transfer.tables)) {
    const figures = await Promise.all([
      figuresOf(source.transfer, table, options),
      figuresOf(target.transfer, table, options),
    ])
    tables.unshift(compared(table, ...figures))
  }
  return { tables, scrub: await verifyScrub(ends) }
}

async function figuresOf(
  store: TransferStore,
  table: TransferTable,
  { signal, onRows }: CopyOptions,
): Promise<Figures> {
  const tally = new Tally()
  for await (const rows of readPages(store, table, { signal })) {
    tally.add(rows)
    onRows(rows.length)
  }
  return tally.figures()
}

/**
 * The tables in the order in which two stores are compared. Whatever is written to a subject, its erasure too, changes its own row:
 * with subjects behind their sessions and events, what happens to those already compared is still noticed.
 */
export function lastFirst(tables: readonly TransferTable[]): TransferTable[] {
  return tables.toReversed()
}

export function compared({ name }: TransferTable, source: Figures, target: Figures): VerifiedTable {
  const isSame = source.rows === target.rows && source.checksum === target.checksum
  return { table: name, source, target, isSame }
}

export async function verifyScrub({ source, target }: CopyEnds): Promise<Verification['scrub']> {
  const inSource = await source.upkeep.scrubState()
  const inTarget = await target.upkeep.scrubState()
  return { source: inSource, target: inTarget, isSame: inTarget.isDue || !inSource.isDue }
}

/** Rows in the form that checksums are made of: the same text for the same rows, whatever the engine. */
export function canonical(rows: readonly TransferRow[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('')
}

/** Counts rows and hashes them as they come by. */
export class Tally {
  readonly #hash = createHash('sha256')
  #rows = 0

  add(rows: readonly TransferRow[], text = canonical(rows)): void {
    this.#hash.update(text)
    this.#rows += rows.length
  }

  /** To be asked for once, at the end. */
  figures(): Figures {
    return { rows: this.#rows, checksum: this.#hash.digest('hex') }
  }
}
