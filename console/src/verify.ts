import { decodeHash } from '../../client/src/base64.ts'
import { VerificationError } from '../../client/src/verification-error.ts'
import { type VerifiedCheckpoint, verifyCheckpoint } from '../../client/src/verify-checkpoint.ts'
import { verifyEntry } from '../../client/src/verify-entry.ts'
import { verifyReceipt } from '../../client/src/verify-receipt.ts'
import type { Certificate, Ledger } from './types.ts'

/** The result of verifying a ledger entry in the browser. */
export type Verdict =
  | { state: 'verified'; checkpoint: VerifiedCheckpoint; hasReceipt: boolean }
  | { state: 'refused' | 'unknown'; why: string }

/** A ledger entry with the result of its verification. */
export interface Checked {
  certificate: Certificate
  verdict: Verdict
}

/**
 * Verifies that an entry is in the signed ledger and matches the page, and that its receipt is valid, for a
 * data subject ID if given.
 */
export function verifyCertificate(certificate: Certificate, subjectId?: string): Promise<Verdict> {
  return judged(async () => {
    const { erasure, record, proof, checkpoint, verifierKeys, receipt } = certificate
    const { index, trackerId } = erasure
    const hashes = proof.map((text) => decodeHash(text) ?? new Uint8Array())
    const entry = await verifyEntry({ record, index, proof: hashes, checkpoint }, { verifierKeys })
    const { counts, erasedAt } = entry.record
    if (
      entry.record.trackerId !== trackerId ||
      erasedAt !== erasure.erasedAt ||
      counts.events !== erasure.counts.events ||
      counts.sessions !== erasure.counts.sessions
    )
      throw new VerificationError('malformed_record', 'The ledger entry differs from what this page shows.')
    if (receipt !== null)
      await verifyReceipt(receipt, { verifierKeys, trackerId, ...(subjectId !== undefined && { subjectId }) })
    return { state: 'verified', checkpoint: entry.checkpoint, hasReceipt: receipt !== null }
  })
}

async function judged(work: () => Promise<Verdict>): Promise<Verdict> {
  try {
    return await work()
  } catch (error) {
    const isRefused = error instanceof VerificationError && error.reason !== 'unsupported'
    const why = error instanceof Error ? error.message : String(error)
    return { state: isRefused ? 'refused' : 'unknown', why }
  }
}

/** Whether the head of the ledger is signed and is the one the page shows, in words. */
export interface HeadVerdict {
  isVerified: boolean
  words: string
}

export const headIsSigned = 'Verified in this browser'

export async function verifyHead({ checkpoint, verifierKeys, size, rootHash }: Ledger): Promise<HeadVerdict> {
  try {
    const head = await verifyCheckpoint(checkpoint, { verifierKeys })
    const isThis = head.size === size && head.rootHash === rootHash
    return {
      isVerified: isThis,
      words: isThis ? headIsSigned : 'The signature belongs to a different ledger head',
    }
  } catch (error) {
    return { isVerified: false, words: error instanceof Error ? error.message : String(error) }
  }
}
