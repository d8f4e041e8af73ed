import type { Keyring } from '../../domain/keyring.ts'
import type { InclusionProof, TreeHead } from '../../domain/merkle-tree.ts'
import { formatCheckpoint, formatReceipt } from '../../domain/receipt.ts'

/** The receipt of an erasure, against the head of the ledger that its proof leads to. */
export function makeReceipt(
  keyring: Keyring,
  organisationId: string,
  erasure: { nonce: Uint8Array; record: string },
  proof: InclusionProof,
): string {
  return formatReceipt(erasure, proof, signCheckpoint(keyring, organisationId, proof.head))
}

/** A head of an organisation's ledger, signed. */
export function signCheckpoint(keyring: Keyring, organisationId: string, head: TreeHead): string {
  return formatCheckpoint(keyring.originOf(organisationId), head, keyring.signersOf(organisationId))
}
