import type { ScrubState } from './maintenance.ts'

/** A value in the form that is the same on every engine: a subject key is its bytes in hexadecimal digits. */
export type TransferValue = string | number | null

/** A row as values in the order of its table's columns, or only those of its key. */
export type TransferRow = readonly TransferValue[]

export interface TransferTable {
  name: string
  columns: readonly { name: string; kind: 'text' | 'integer' | 'key' }[]
  /** So many columns, from the first, tell its rows apart. Rows are in their order, which is the same on every engine. */
  keyLength: number
}

/** All that a store holds, row by row, for moving it to another. Nothing is hidden: neither what has aged out nor a key's hash. */
export interface TransferStore {
  /** Every table; one that refers to another comes after it. */
  tables: readonly TransferTable[]
  count(table: TransferTable): Promise<number>
  /** The rows that follow the key `after`, or the first ones, in the order of their keys. */
  read(table: TransferTable, after: TransferRow | null, limit: number): Promise<TransferRow[]>
  /** Adds rows, all or none. Rejects when one with the same key is there. */
  add(table: TransferTable, rows: readonly TransferRow[]): Promise<void>
  /** Takes over when the last scrub was, and that one is due. One that is due here remains so. */
  adoptScrubState(state: ScrubState): Promise<void>
}

/** The values by which a row is told apart. */
export function keyOf({ keyLength }: TransferTable, row: TransferRow): TransferRow {
  return row.slice(0, keyLength)
}
