import type { Edge, Subtree } from './merkle-tree.ts'

/** An entry of an organisation's ledger, as it was appended. */
export interface LedgerEntry {
  /** From 0. */
  index: number
  record: string
  leafHash: Buffer
  /** The edge that is stored with it. */
  edge: Edge
}

/** The ledger of an organisation's erasures. Nothing of it is ever changed; `subjects.erase` appends to it. */
export interface LedgerStore {
  /** The edge of the tree as it is now; `null` for one without entries, as of an organisation that is not there. */
  edge(organisationId: string): Promise<Edge | null>
  /** The hashes of subtrees that are complete, in the order in which they are asked for. Rejects when one is not there. */
  hashes(organisationId: string, subtrees: readonly Subtree[]): Promise<Buffer[]>
  /** Entries from an index on, oldest first, at most `limit`. */
  list(organisationId: string, from: number, limit: number): Promise<LedgerEntry[]>
}
