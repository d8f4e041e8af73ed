import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ScrubState } from '../domain/maintenance.ts'
import {
  keyOf,
  type Store,
  type TransferRow,
  type TransferStore,
  type TransferTable,
} from '../domain/store.ts'

export interface CopyEnds {
  source: Pick<Store, 'transfer' | 'maintenance'>
  target: Pick<Store, 'transfer' | 'maintenance'>
}

export interface CopyOptions {
  /** Rejects with the signal's reason. */
  signal?: AbortSignal | undefined
  /** Called with the number of rows done. */
  onRows(count: number): void
}

/** The number of rows, and a hash over all rows in key order. */
export interface Figures {
  rows: number
  checksum: string
}

interface VerifiedTable {
  table: string
  source: Figures
  target: Figures
  isSame: boolean
}

export interface Verification {
  tables: VerifiedTable[]
  /** A scrub that is due in the source must also be due in the target, but not the reverse. */
  scrub: { source: ScrubState; target: ScrubState; isSame: boolean }
}

/** Compares both stores completely, table by table. `onRows` counts the rows of both. */
export async function verifyCopy(ends: CopyEnds, options: CopyOptions): Promise<Verification> {
  const { source, target } = ends
  const tables: ComparedTable[] = []
  for (const table of lastFirst(source.transfer.tables)) {
    const figures = await Promise.all([
      figuresOf(source.transfer, table, options),
      figuresOf(target.transfer, table, options),
    ])
    tables.unshift({ table, figures })
  }
  return concludeCopy(ends, tables)
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
 * Compares sessions and events before subjects: every write to a subject changes its own row, so a change to
 * rows that were already compared is still detected.
 */
export function lastFirst(tables: readonly TransferTable[]): TransferTable[] {
  return tables.toReversed()
}

interface ComparedTable {
  table: TransferTable
  figures: readonly [Figures, Figures]
}

/** Counts the source again, so that erasures during the comparison are detected and reported. */
export async function concludeCopy(
  { source, target }: CopyEnds,
  compared: readonly ComparedTable[],
): Promise<Verification> {
  const tables: VerifiedTable[] = []
  for (const { table, figures } of compared) {
    const [inSource, inTarget] = figures
    const rows = await source.transfer.count(table)
    const isSame = rows === inTarget.rows && inSource.checksum === inTarget.checksum
    tables.push({ table: table.name, source: { ...inSource, rows }, target: inTarget, isSame })
  }
  const states = {
    source: await source.maintenance.scrubState(),
    target: await target.maintenance.scrubState(),
  }
  return { tables, scrub: { ...states, isSame: states.target.isDue || !states.source.isDue } }
}

/** The same text for the same rows on every engine. */
export function canonical(rows: readonly TransferRow[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('')
}

export class Tally {
  readonly #hash = createHash('sha256')
  #rows = 0

  add(rows: readonly TransferRow[], text = canonical(rows)): void {
    this.#hash.update(text)
    this.#rows += rows.length
  }

  /** Can be called once. */
  figures(): Figures {
    return { rows: this.#rows, checksum: this.#hash.digest('hex') }
  }
}

/** Few, because a row may have a megabyte. */
const maxPageRows = 250

interface Reading {
  after?: TransferRow | null
  /** Rejects with the signal's reason. */
  signal?: AbortSignal | undefined
}

/** Reads a table in key order. Yields to other requests, even if the store responds immediately. */
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
