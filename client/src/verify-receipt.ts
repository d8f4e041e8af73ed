import { encodeBase64Url } from './base64.ts'
import type { ErasureRecord } from './erasure-record.ts'
import { parseReceipt, type ReceiptParts } from './parse-receipt.ts'
import { VerificationError } from './verification-error.ts'
import type { CheckpointOptions, VerifiedCheckpoint } from './verify-checkpoint.ts'
import { verifyEntry } from './verify-entry.ts'
import { hmacSha256 } from './web-crypto.ts'

export interface ReceiptOptions extends CheckpointOptions {
  /** The tracker that the erasure must be of. */
  trackerId?: string
  /** The data subject that the erasure must be of. Without it, a receipt proves that somebody was erased. */
  subjectId?: string
}

export interface VerifiedReceipt {
  /** What was erased, and when. */
  record: ErasureRecord
  /** Where the entry stands in the ledger, from 0. */
  index: number
  /** The head of the ledger that the entry is proven by. */
  checkpoint: VerifiedCheckpoint
  /** Whether it is proven whose data were erased, which takes `subjectId`. */
  isSubjectProven: boolean
}

/**
 * Verifies the receipt of an erasure, offline: that the entry in it stands in the ledger whose head one of the keys signed, and that
 * it is of this tracker and data subject. Throws a `VerificationError`.
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

/** What stands for a data subject in the ledger. */
async function digestOf(
  subjectId: string,
  { trackerId }: ErasureRecord,
  { nonce }: ReceiptParts,
): Promise<string> {
  return encodeBase64Url(await hmacSha256(nonce, new TextEncoder().encode(`${trackerId}\0${subjectId}`)))
}
