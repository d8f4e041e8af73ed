import { setImmediate as nextTurn } from 'node:timers/promises'
import type { LedgerEntry, LedgerStore } from '../../domain/ledger.ts'
import {
  appendLeaf,
  type Edge,
  formatEdge,
  hashLeaf,
  headAt,
  type TreeHead,
} from '../../domain/merkle-tree.ts'
import { parseRecord } from '../../domain/receipt.ts'

/** How a ledger stands by its records alone. */
export interface LedgerVerification {
  /** As far as it could be followed. */
  head: TreeHead
  /** The first thing that is wrong with it, in words; `null` when nothing is. */
  problem: string | null
}

interface VerifyOptions {
  /** A head that it had before. */
  since: TreeHead | null
  /** Told how many entries were looked at, now and then. */
  onEntries?(count: number): void
}

const chunkSize = 500

/** Computes an organisation's tree anew out of its records, and holds what is stored against it. */
export async function verifyLedger(
  { ledger }: { ledger: LedgerStore },
  organisationId: string,
  { since, onEntries = () => {} }: VerifyOptions,
): Promise<LedgerVerification> {
  let last: Edge | null = null
  for (let hasMore = true; hasMore; ) {
    const entries: LedgerEntry[] = await ledger.list(organisationId, last?.size ?? 0, chunkSize)
    for (const entry of entries) {
      const size: number = last?.size ?? 0
      const edge: Edge = appendLeaf(last, hashLeaf(entry.record))
      const problem = problemOf(entry, size, edge) ?? breakSince(edge, since)
      if (problem !== null) return { head: headAt(last), problem }
      last = edge
    }
    onEntries(entries.length)
    await nextTurn()
    hasMore = entries.length === chunkSize
  }
  const head = headAt(last)
  return { head, problem: since && since.size > head.size ? rolledBack(head, since) : null }
}

function problemOf(
  { index, record, edge: stored }: LedgerEntry,
  expected: number,
  edge: Edge,
): string | null {
  if (index !== expected) return `Entry ${expected} is missing; the next one there is ${index}.`
  if (parseRecord(record) === null) return `Entry ${index} is not written as an erasure is.`
  if (formatEdge(stored) !== formatEdge(edge)) {
    return `The hashes stored with entry ${index} are not those of the entries up to it: it was changed, or one before it.`
  }
  return null
}

function breakSince(edge: Edge, since: TreeHead | null): string | null {
  if (since?.size !== edge.size || Buffer.compare(headAt(edge).rootHash, since.rootHash) === 0) return null
  return `The first ${since.size} entries are not those that the older checkpoint tells of.`
}

function rolledBack({ size }: TreeHead, since: TreeHead): string {
  return `The ledger has ${size} entries, and had ${since.size} when the older checkpoint was made: the store was rolled back, or entries were taken out.`
}
