import type { LedgerEntry } from '../../domain/ledger.ts'
import {
  appendLeaf,
  type Edge,
  formatEdge,
  hashLeaf,
  type InclusionProof,
  lastLeafOf,
  parseEdge,
  proveLast,
  type Subtree,
} from '../../domain/merkle-tree.ts'
import { type ErasureRecord, formatRecord } from '../../domain/receipt.ts'
import { integer, type Row, text } from './row.ts'

/** The edge that stands with an entry. */
export function toEdge(row: Row): Edge {
  return parseEdge(integer(row, 'ledger_index') + 1, text(row, 'edge'))
}

export function toLedgerEntry(row: Row): LedgerEntry {
  const edge = toEdge(row)
  const [leafHash] = edge.completed
  if (!leafHash) throw new Error('The store holds an entry of the ledger without its hash.')
  return { index: integer(row, 'ledger_index'), record: text(row, 'record'), leafHash, edge }
}

/** An entry that is to be stored, and the proof that it is in the tree. */
export interface AppendedEntry {
  index: number
  record: string
  edge: string
  proof: InclusionProof
}

/** The entry that comes behind the one with the edge `last`. */
export function appendEntry(last: Edge | null, erasure: ErasureRecord): AppendedEntry {
  return appendRecord(last, formatRecord(erasure))
}

/** The same for an entry as it stands in the tree. */
export function appendRecord(last: Edge | null, record: string): AppendedEntry {
  const edge = appendLeaf(last, hashLeaf(record))
  const proof = proveLast(last, edge)
  return { index: proof.index, record, edge: formatEdge(edge), proof }
}

/** The hashes of subtrees, out of the rows with which they stand. Throws when one is missing. */
export function toHashes(subtrees: readonly Subtree[], rows: readonly Row[]): Buffer[] {
  const edges = new Map(rows.map((row) => [integer(row, 'ledger_index'), toEdge(row)]))
  return subtrees.map((subtree) => {
    const found = edges.get(lastLeafOf(subtree))?.completed[subtree.level]
    if (!found) throw new Error('The store lacks an entry of the ledger.')
    return found
  })
}
