import {
  guardHead,
  headMacs,
  type LedgerGuard,
  type LedgerStore,
  type StoredHead,
} from '../../domain/ledger.ts'
import { formatEdge, GrowingTree, hashLeaf, lastLeafOf } from '../../domain/merkle-tree.ts'
import { toHashes, toLedgerEntry, toStoredHead } from '../rows/ledger.ts'
import type { Connections } from './connections.ts'
import { joiningDeletions } from './scrub.ts'
import { statement, type Value } from './statement.ts'
import type { Run } from './transact.ts'

const last = statement(
  `SELECT ledger_index, edge, head_mac FROM ledger_entries WHERE organisation_id = $1
   ORDER BY ledger_index DESC LIMIT 1`,
)
const several = statement(
  'SELECT ledger_index, edge FROM ledger_entries WHERE organisation_id = $1 AND ledger_index = ANY ($2)',
)
export const list = statement(
  `SELECT ledger_index, record, edge FROM ledger_entries WHERE organisation_id = $1 AND ledger_index >= $2
   ORDER BY ledger_index LIMIT $3`,
)

// Whoever appends has the ledger to itself until its transaction ends. Its subjects are locked by then, so nobody waits in a circle.
const lockLedger = statement(`SELECT pg_advisory_xact_lock($1, hashtext($2)), ${joiningDeletions}`)
const ledgerLocks = 1_279_611_754
export const insertEntry = statement(
  'INSERT INTO ledger_entries (organisation_id, ledger_index, record, edge, head_mac) VALUES ($1, $2, $3, $4, $5)',
)

export function ledgerStore(connections: Connections): LedgerStore {
  return {
    async head(organisationId) {
      const [row] = await connections.read(last, [organisationId])
      return row ? toStoredHead(row) : null
    },
    async hashes(organisationId, subtrees) {
      const rows = await connections.read(several, [organisationId, subtrees.map(lastLeafOf)])
      return toHashes(subtrees, rows)
    },
    list: async (organisationId, from, limit) =>
      (await connections.read(list, [organisationId, from, limit])).map(toLedgerEntry),
  }
}

/** Keeps an organisation's ledger to this transaction from here on. It joins the deletions: who appends, deletes. */
export async function holdLedger(run: Run, organisationId: string, guard: LedgerGuard): Promise<HeldLedger> {
  const [, { rows }] = await Promise.all([
    run(lockLedger, [ledgerLocks, organisationId]),
    run(last, [organisationId]),
  ])
  const stored = rows[0] ? toStoredHead(rows[0]) : null
  guardHead(guard, organisationId, stored)
  const tree = new GrowingTree(stored?.edge ?? null)
  return {
    stored,
    tree,
    append(record) {
      const edge = tree.append(hashLeaf(record))
      const index = edge.size - 1
      const mac = headMacs(guard.headKeys, organisationId, tree.head)
      return { index, values: [organisationId, index, record, formatEdge(edge), mac] }
    },
  }
}

/** A ledger that nobody else appends to before the transaction has ended. */
export interface HeldLedger {
  /** As it was found. */
  stored: StoredHead | null
  tree: GrowingTree
  /** Appends to the tree, and tells the index of the entry and with which values it is to be inserted. */
  append(record: string): { index: number; values: readonly Value[] }
}
