import {
  type AppendedEntry,
  guardHead,
  headMacs,
  type LedgerEntry,
  type LedgerGuard,
  type LedgerStore,
  type StoredHead,
} from '../../domain/ledger.ts'
import {
  type Frontier,
  formatFrontier,
  GrowingTree,
  hashLeaf,
  lastLeafOf,
  parseFrontier,
  type Subtree,
} from '../../domain/merkle-tree.ts'
import type { Engine, Run } from './engine.ts'
import { lockOrganisation } from './locks.ts'
import { integer, type Row, text } from './row.ts'
import { joiningDeletions } from './scrub.ts'
import { type NamedValues, postgresOnly, statement } from './statement.ts'

export const lastEntry = statement(
  `SELECT ledger_index, edge, head_mac FROM ledger_entries WHERE organisation_id = :organisationId
   ORDER BY ledger_index DESC LIMIT 1`,
)
const several = statement(
  `SELECT ledger_index, edge FROM ledger_entries
   WHERE organisation_id = :organisationId AND ledger_index = ANY (:indexes)`,
)
export const listEntries = statement(
  `SELECT ledger_index, record, edge FROM ledger_entries
   WHERE organisation_id = :organisationId AND ledger_index >= :from ORDER BY ledger_index LIMIT :limit`,
)
export const insertEntry = statement(
  `INSERT INTO ledger_entries (organisation_id, ledger_index, record, edge, head_mac)
   VALUES (:organisationId, :ledgerIndex, :record, :edge, :mac)`,
)
// Serialises appends to a ledger. The subjects are locked before, so transactions cannot deadlock.
const ledgerLocks = 1_279_611_754
const lock = postgresOnly(
  `SELECT pg_advisory_xact_lock(${ledgerLocks}, hashtext(:organisationId)), ${joiningDeletions}`,
)

export const ledgerTransactions = {
  async appendToLedger(
    run: Run,
    organisationId: string,
    records: readonly string[],
    guard: LedgerGuard,
  ): Promise<AppendedEntry[] | null> {
    if (!(await lockOrganisation(run, organisationId))) return null
    return appendRecords(run, organisationId, records, guard)
  },
}

/**
 * Appends records to a ledger within a transaction, which holds the ledger from here until it ends: lock
 * everything else first. Returns the entries in the given order, with proofs against the head after the last.
 * Throws `ForgedLedger` or `ShortLedger`.
 */
export async function appendRecords(
  run: Run,
  organisationId: string,
  records: readonly string[],
  guard: LedgerGuard,
): Promise<AppendedEntry[]> {
  if (records.length === 0) return []
  const ledger = await lockLedger(run, organisationId, guard)
  const indexes = records.map((record) => {
    const entry = ledger.append(record)
    run(insertEntry, entry)
    return { record, index: entry.ledgerIndex }
  })
  return indexes.map(({ record, index }) => ({ record, proof: ledger.tree.prove(index) }))
}

export function ledgerStore(engine: Engine<typeof ledgerTransactions>): LedgerStore {
  return {
    async head(organisationId) {
      const [row] = await engine.read(lastEntry, { organisationId })
      return row ? toStoredHead(row) : null
    },
    async hashes(organisationId, subtrees) {
      const rows = await engine.read(several, { organisationId, indexes: subtrees.map(lastLeafOf) })
      return toHashes(subtrees, rows)
    },
    list: async (organisationId, from, limit) =>
      (await engine.read(listEntries, { organisationId, from, limit })).map(toLedgerEntry),
    append: (organisationId, records, guard) =>
      engine.transact('appendToLedger', organisationId, records, guard),
  }
}

/** A ledger that no other transaction can append to until this one ends. */
export interface LockedLedger {
  /** The head before anything was appended. */
  stored: StoredHead | null
  tree: GrowingTree
  /** Appends to the tree and returns the parameters of `insertEntry`. */
  append(record: string): NamedValues & { ledgerIndex: number }
}

/**
 * Locks an organisation's ledger until the transaction ends. Also joins the running deletions, because most
 * appends are part of one.
 */
export async function lockLedger(
  run: Run,
  organisationId: string,
  guard: LedgerGuard,
): Promise<LockedLedger> {
  const [, { rows }] = await Promise.all([run(lock, { organisationId }), run(lastEntry, { organisationId })])
  return toLockedLedger(rows, organisationId, guard)
}

/** The ledger that ends with the entry in these rows. Throws if the guard forbids appending to it. */
export function toLockedLedger(
  [last]: readonly Row[],
  organisationId: string,
  guard: LedgerGuard,
): LockedLedger {
  const stored = last ? toStoredHead(last) : null
  guardHead(guard, organisationId, stored)
  const tree = new GrowingTree(stored?.frontier ?? null)
  return {
    stored,
    tree,
    append(record) {
      const frontier = tree.append(hashLeaf(record))
      const mac = headMacs(guard.headKeys, organisationId, tree.head)
      return { organisationId, ledgerIndex: frontier.size - 1, record, edge: formatFrontier(frontier), mac }
    },
  }
}

/** The frontier that is stored with an entry. */
function toFrontier(row: Row): Frontier {
  return parseFrontier(integer(row, 'ledger_index') + 1, text(row, 'edge'))
}

export function toStoredHead(row: Row): StoredHead {
  return { frontier: toFrontier(row), mac: text(row, 'head_mac') }
}

function toLedgerEntry(row: Row): LedgerEntry {
  const frontier = toFrontier(row)
  const [leafHash] = frontier.completed
  if (!leafHash) throw new Error('The store holds an entry of the ledger without its hash.')
  return { index: integer(row, 'ledger_index'), record: text(row, 'record'), leafHash, frontier }
}

/** The hashes of subtrees, from the rows that store them. Throws if one is missing. */
function toHashes(subtrees: readonly Subtree[], rows: readonly Row[]): Buffer[] {
  const edges = new Map(rows.map((row) => [integer(row, 'ledger_index'), toFrontier(row)]))
  return subtrees.map((subtree) => {
    const found = edges.get(lastLeafOf(subtree))?.completed[subtree.level]
    if (!found) throw new Error('The store lacks an entry of the ledger.')
    return found
  })
}
