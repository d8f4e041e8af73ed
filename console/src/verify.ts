import { decodeHash } from '../../client/src/base64.ts'
import type { LedgerRecord } from '../../client/src/ledger-record.ts'
import { VerificationError } from '../../client/src/verification-error.ts'
import { type VerifiedCheckpoint, verifyCheckpoint } from '../../client/src/verify-checkpoint.ts'
import { verifyEntry } from '../../client/src/verify-entry.ts'
import { type ExpectedPerson, verifyReceipt } from '../../client/src/verify-receipt.ts'
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
 * data subject ID or an identifier if given.
 */
export function verifyCertificate(certificate: Certificate, expected: ExpectedPerson = {}): Promise<Verdict> {
  return judged(async () => {
    const { entry, record, proof, checkpoint, verifierKeys, receipt } = certificate
    const hashes = proof.map((text) => decodeHash(text) ?? new Uint8Array())
    const verified = await verifyEntry(
      { record, index: entry.index, proof: hashes, checkpoint },
      { verifierKeys },
    )
    if (!isShown(verified.record, entry))
      throw new VerificationError('malformed_record', 'The ledger entry differs from what this page shows.')
    if (receipt !== null) await verifyReceipt(receipt, { verifierKeys, ...expected })
    return { state: 'verified', checkpoint: verified.checkpoint, hasReceipt: receipt !== null }
  })
}

function isShown(record: LedgerRecord, entry: Certificate['entry']): boolean {
  if (record.version === 2) return entry.kind === 'nothing-held' && record.checkedAt === entry.checkedAt
  return (
    entry.kind === 'erasure' &&
    record.trackerId === entry.trackerId &&
    record.erasedAt === entry.erasedAt &&
    record.counts.events === entry.counts.events &&
    record.counts.sessions === entry.counts.sessions
  )
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
