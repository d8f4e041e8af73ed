import assert from 'node:assert/strict'
import { appendLeaf, type Frontier, formatFrontier, hashLeaf } from '../../../src/domain/merkle-tree.ts'
import { text } from '../../../src/storage/nouns/row.ts'
import { testKeyring } from '../../support/test-keyring.ts'
import type { Queryable, Rule } from './killable-store.ts'

/** What ties the ledger to the tombstones. */
export const ledgerRules: readonly Rule[] = [
  [
    'an entry of the ledger has a tombstone, and a tombstone an entry',
    `SELECT * FROM ledger_entries FULL JOIN tombstones USING (organisation_id, ledger_index)
     WHERE record IS NULL OR digest IS NULL`,
  ],
]

/** Fails unless the ledgers are the trees of their entries, without a gap, and nothing is older than the tombstone of its subject. */
export async function assertProven(store: Queryable): Promise<void> {
  const last = new Map<string, Frontier>()
  const entries = await store.ask('SELECT * FROM ledger_entries ORDER BY organisation_id, ledger_index')
  for (const row of entries) {
    const before = last.get(text(row, 'organisation_id')) ?? null
    const frontier = appendLeaf(before, hashLeaf(text(row, 'record')))
    assert.equal(Number(row.ledger_index), frontier.size - 1, 'the ledger has no gap')
    assert.equal(text(row, 'edge'), formatFrontier(frontier), 'the ledger is the tree of its entries')
    last.set(text(row, 'organisation_id'), frontier)
  }
  const tombstones = await store.ask('SELECT digest, max(refused_until) AS until FROM tombstones GROUP BY 1')
  const until = new Map(tombstones.map((row) => [plain(text(row, 'digest')), Number(row.until)]))
  if (until.size === 0) return
  const subjects = await store.ask('SELECT tracker_id, subject_id, first_seen_at FROM subjects')
  const risen = subjects.filter((row) => {
    const digests = testKeyring.tombstoneDigests(text(row, 'tracker_id'), text(row, 'subject_id'))
    const refused = digests.map((digest) => until.get(digest.toString('hex')) ?? Number.NEGATIVE_INFINITY)
    return Number(row.first_seen_at) <= Math.max(...refused)
  })
  assert.deepEqual(risen.slice(0, 3), [], 'nothing is older than the tombstone of its subject')
}

function plain(uuid: string): string {
  return uuid.replaceAll('-', '')
}
