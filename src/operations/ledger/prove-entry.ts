import { notFound } from '../../domain/errors.ts'
import type { Keyring } from '../../domain/keyring.ts'
import { type LedgerStore, openHead } from '../../domain/ledger.ts'
import { hashesOfPath, inclusionPath, type TreeHead } from '../../domain/merkle-tree.ts'

/** What shows that an entry stands in a ledger. Without the nonce of its receipt it does not tell who was erased. */
export interface ProvenEntry {
  index: number
  record: string
  leafHash: Uint8Array
  /** Hashes in base64. */
  proof: string[]
  checkpoint: string
}

/** An entry of an organisation's ledger, with its place in the tree as it is now. `not_found` when there is none at this index. */
export async function proveEntry(
  { ledger, keyring }: { ledger: LedgerStore; keyring: Keyring },
  organisationId: string,
  index: number,
): Promise<ProvenEntry> {
  const [entry] = await ledger.list(organisationId, index, 1)
  if (entry?.index !== index) throw notFound('This entry of the ledger')
  // Read after the entry, so that it holds it.
  const head = openHead(keyring.headKeys, organisationId, await ledger.head(organisationId))
  const proof = await provePlace(ledger, organisationId, index, head)
  const { record, leafHash } = entry
  return { index, record, leafHash, proof, checkpoint: keyring.signCheckpoint(organisationId, head) }
}

/** The hashes that lead from an entry to the root of a tree that holds it, in base64. */
export async function provePlace(
  ledger: LedgerStore,
  organisationId: string,
  index: number,
  { size }: TreeHead,
): Promise<string[]> {
  const path = inclusionPath(index, size)
  const hashes = hashesOfPath(path, await ledger.hashes(organisationId, path.flat()))
  return hashes.map((hash) => hash.toString('base64'))
}
