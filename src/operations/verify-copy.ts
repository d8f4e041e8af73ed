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

/** Two stores, as far as a copy has to do with them. */
export interface CopyEnds {
  source: Pick<Store, 'transfer' | 'maintenance'>
  target: Pick<Store, 'transfer' | 'maintenance'>
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

interface VerifiedTable {
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
 * The tables in the order in which two stores are compared. Whatever is written to a subject, its erasure too, changes its own row:
 * with subjects behind their sessions and events, what happens to those already compared is still noticed.
 */
export function lastFirst(tables: readonly TransferTable[]): TransferTable[] {
  return tables.toReversed()
}

/** A table that was read from end to end, with what it holds in the source and in the target. */
interface ComparedTable {
  table: TransferTable
  figures: readonly [Figures, Figures]
}

/**
 * What a comparison comes to. The source is counted once more: somebody erased since their page was read shows in that, and the count
 * is then what is reported.
 */
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

/** Few, because a row may have a megabyte. */
const maxPageRows = 250

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
