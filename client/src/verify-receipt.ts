import { encodeBase64Url } from './base64.ts'
import type { ErasureRecord } from './erasure-record.ts'
import { parseReceipt, type ReceiptParts } from './parse-receipt.ts'
import { VerificationError } from './verification-error.ts'
import type { CheckpointOptions, VerifiedCheckpoint } from './verify-checkpoint.ts'
import { verifyEntry } from './verify-entry.ts'
import { hmacSha256 } from './web-crypto.ts'

export interface ReceiptOptions extends CheckpointOptions {
  /** The expected tracker of the erasure. */
  trackerId?: string
  /** The expected data subject. Without it, a receipt proves only that someone was erased. */
  subjectId?: string
}

export interface VerifiedReceipt {
  /** What was erased, and when. */
  record: ErasureRecord
  /** The index of the entry in the ledger, from 0. */
  index: number
  /** The head of the ledger that proves the entry. */
  checkpoint: VerifiedCheckpoint
  /** Whether the receipt proves whose data was erased, which requires `subjectId`. */
  isSubjectProven: boolean
}

/**
 * Verifies the receipt of an erasure offline: that its entry is in the ledger whose head was signed by one of
 * the keys, and that it is of this tracker and data subject. Throws a `VerificationError`.
 */
export async function verifyReceipt(
  receipt: string,
  { verifierKeys, trackerId, subjectId }: ReceiptOptions,
): Promise<VerifiedReceipt> {
  const parts = parseReceipt(receipt)
  const { record, checkpoint } = await verifyEntry(parts, { verifierKeys })
  if (trackerId !== undefined && trackerId !== record.trackerId) {
    throw new VerificationError('wrong_tracker', 'The receipt is of another tracker.')
  }
  if (subjectId !== undefined && record.subject !== (await digestOf(subjectId, record, parts))) {
    throw new VerificationError('wrong_subject', 'The receipt is of another data subject.')
  }
  return { record, index: parts.index, checkpoint, isSubjectProven: subjectId !== undefined }
}

/** The digest of a data subject in the ledger. */
async function digestOf(
  subjectId: string,
  { trackerId }: ErasureRecord,
  { nonce }: ReceiptParts,
): Promise<string> {
  return encodeBase64Url(await hmacSha256(nonce, new TextEncoder().encode(`${trackerId}\0${subjectId}`)))
}
