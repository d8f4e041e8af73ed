import type { LedgerEntry, StoredHead } from '../../domain/ledger.ts'
import { type Edge, lastLeafOf, parseEdge, type Subtree } from '../../domain/merkle-tree.ts'
import { integer, type Row, text } from './row.ts'

/** The edge that stands with an entry. */
function toEdge(row: Row): Edge {
  return parseEdge(integer(row, 'ledger_index') + 1, text(row, 'edge'))
}

export function toStoredHead(row: Row): StoredHead {
  return { edge: toEdge(row), mac: text(row, 'head_mac') }
}

export function toLedgerEntry(row: Row): LedgerEntry {
  const edge = toEdge(row)
  const [leafHash] = edge.completed
  if (!leafHash) throw new Error('The store holds an entry of the ledger without its hash.')
  return { index: integer(row, 'ledger_index'), record: text(row, 'record'), leafHash, edge }
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
