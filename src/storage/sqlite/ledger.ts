import type { DatabaseSync } from 'node:sqlite'
import { guardHead, headMacs, type LedgerGuard, type LedgerStore } from '../../domain/ledger.ts'
import {
  formatEdge,
  GrowingTree,
  hashLeaf,
  type InclusionProof,
  lastLeafOf,
} from '../../domain/merkle-tree.ts'
import { toHashes, toLedgerEntry, toStoredHead } from '../rows/ledger.ts'
import type { Connections } from './connections.ts'

export const lastEntry = `SELECT ledger_index, edge, head_mac FROM ledger_entries WHERE organisation_id = ?
  ORDER BY ledger_index DESC LIMIT 1`

export const insertEntry =
  'INSERT INTO ledger_entries (organisation_id, ledger_index, record, edge, head_mac) VALUES (?, ?, ?, ?, ?)'

export function ledgerStore({ reader }: Connections): LedgerStore {
  const last = reader.prepare(lastEntry)
  const one = reader.prepare(
    'SELECT ledger_index, edge FROM ledger_entries WHERE organisation_id = ? AND ledger_index = ?',
  )
  const list = reader.prepare(
    `SELECT ledger_index, record, edge FROM ledger_entries WHERE organisation_id = ? AND ledger_index >= ?
     ORDER BY ledger_index LIMIT ?`,
  )
  return {
    async head(organisationId) {
      const row = last.get(organisationId)
      return row ? toStoredHead(row) : null
    },
    async hashes(organisationId, subtrees) {
      const rows = subtrees.flatMap((subtree) => one.all(organisationId, lastLeafOf(subtree)))
      return toHashes(subtrees, rows)
    },
    list: async (organisationId, from, limit) => list.all(organisationId, from, limit).map(toLedgerEntry),
  }
}

/** Ledgers that one transaction appends to. Every proof is against the tree as the transaction leaves it, so they share its head. */
export interface AppendedLedgers {
  /** Tells the index of the entry. */
  append(organisationId: string, record: string, guard: LedgerGuard): number
  prove(organisationId: string, index: number): InclusionProof
}

export function ledgerAppending(db: DatabaseSync): () => AppendedLedgers {
  const last = db.prepare(lastEntry)
  const insert = db.prepare(insertEntry)
  return () => {
    const trees = new Map<string, GrowingTree>()
    return {
      append(organisationId, record, guard) {
        let tree = trees.get(organisationId)
        if (!tree) {
          const row = last.get(organisationId)
          const stored = row ? toStoredHead(row) : null
          guardHead(guard, organisationId, stored)
          tree = new GrowingTree(stored?.edge ?? null)
          trees.set(organisationId, tree)
        }
        const edge = tree.append(hashLeaf(record))
        const index = edge.size - 1
        const mac = headMacs(guard.headKeys, organisationId, tree.head)
        insert.run(organisationId, index, record, formatEdge(edge), mac)
        return index
      },
      prove(organisationId, index) {
        const tree = trees.get(organisationId)
        if (!tree) throw new Error('Only what was appended here can be proven.')
        return tree.prove(index)
      },
    }
  }
}
