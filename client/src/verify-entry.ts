import { decodeHash } from './base64.ts'
import { type LedgerRecord, parseLedgerRecord } from './ledger-record.ts'
import { hashLeaf, isIncluded } from './merkle-proof.ts'
import type { ReceiptParts } from './parse-receipt.ts'
import { VerificationError } from './verification-error.ts'
import { type CheckpointOptions, type VerifiedCheckpoint, verifyCheckpoint } from './verify-checkpoint.ts'

/** Verifies that an entry is in the ledger whose head a given key signed. Throws a `VerificationError`. */
export async function verifyEntry(
  { record, index, proof, checkpoint }: Omit<ReceiptParts, 'nonce'>,
  { verifierKeys }: CheckpointOptions,
): Promise<{ record: LedgerRecord; checkpoint: VerifiedCheckpoint }> {
  const head = await verifyCheckpoint(checkpoint, { verifierKeys })
  const leafHash = await hashLeaf(new TextEncoder().encode(record))
  const root = decodeHash(head.rootHash)
  if (root === null || !(await isIncluded(index, leafHash, proof, { size: head.size, root }))) {
    throw new VerificationError(
      'not_included',
      `The proof does not show that the entry is at index ${index} of the ledger with ${head.size} entries.`,
    )
  }
  return { record: parseLedgerRecord(record), checkpoint: head }
}
