import type { DatabaseSync } from 'node:sqlite'
import type { LedgerStore } from '../../domain/ledger.ts'
import { lastLeafOf } from '../../domain/merkle-tree.ts'
import { type ErasureRecord, formatRecord } from '../../domain/receipt.ts'
import { type AppendedEntry, appendRecord, toEdge, toHashes, toLedgerEntry } from '../rows/ledger.ts'
import type { Connections } from './connections.ts'

const lastEntry = `SELECT ledger_index, edge FROM ledger_entries WHERE organisation_id = ?
  ORDER BY ledger_index DESC LIMIT 1`

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
    async edge(organisationId) {
      const row = last.get(organisationId)
      return row ? toEdge(row) : null
    },
    async hashes(organisationId, subtrees) {
      const rows = subtrees.flatMap((subtree) => one.all(organisationId, lastLeafOf(subtree)))
      return toHashes(subtrees, rows)
    },
    list: async (organisationId, from, limit) => list.all(organisationId, from, limit).map(toLedgerEntry),
  }
}

/** Appends an entry to an organisation's ledger, within the transaction of the erasure it tells of. */
export function ledgerWriting(
  db: DatabaseSync,
): (organisationId: string, erasure: ErasureRecord) => AppendedEntry {
  const append = ledgerAppending(db)
  return (organisationId, erasure) => append(organisationId, formatRecord(erasure))
}

/** The same for an entry as it stands in the tree. */
export function ledgerAppending(db: DatabaseSync): (organisationId: string, record: string) => AppendedEntry {
  const last = db.prepare(lastEntry)
  const insert = db.prepare(
    'INSERT INTO ledger_entries (organisation_id, ledger_index, record, edge) VALUES (?, ?, ?, ?)',
  )
  return (organisationId, record) => {
    const row = last.get(organisationId)
    const entry = appendRecord(row ? toEdge(row) : null, record)
    insert.run(organisationId, entry.index, entry.record, entry.edge)
    return entry
  }
}
