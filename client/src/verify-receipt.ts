import type { Identifier } from './api.ts'
import { encodeBase64Url } from './base64.ts'
import type { ErasureRecord, LedgerRecord, NothingHeldRecord } from './ledger-record.ts'
import { parseReceipt, type ReceiptParts } from './parse-receipt.ts'
import { VerificationError } from './verification-error.ts'
import type { CheckpointOptions, VerifiedCheckpoint } from './verify-checkpoint.ts'
import { verifyEntry } from './verify-entry.ts'
import { hmacSha256 } from './web-crypto.ts'

/** Whom a receipt must be about: a data subject for an erasure, an identifier if nothing was held. */
export interface ExpectedPerson {
  /** The expected tracker of the erasure. */
  trackerId?: string
  /** The expected data subject. Without it, a receipt proves only that someone was erased. */
  subjectId?: string
  /** The expected identifier. Without it, a receipt proves only that nothing was held about someone. */
  identifier?: Identifier
}

export interface ReceiptOptions extends CheckpointOptions, ExpectedPerson {}

export interface VerifiedReceipt<Kind extends LedgerRecord = LedgerRecord> {
  /** What was erased, or that nothing was held, and when. */
  record: Kind
  /** The index of the entry in the ledger, from 0. */
  index: number
  /** The head of the ledger that proves the entry. */
  checkpoint: VerifiedCheckpoint
  /** Whether the receipt proves whom it is about, which requires `subjectId` or `identifier`. */
  isSubjectProven: boolean
}

/**
 * Verifies a receipt offline: that its entry is in the ledger whose head was signed by one of the keys, and
 * that it is about this tracker and data subject, or about the person with this identifier. Throws a
 * `VerificationError`.
 */
export function verifyReceipt(
  receipt: string,
  options: ReceiptOptions & ({ trackerId: string } | { subjectId: string }),
): Promise<VerifiedReceipt<ErasureRecord>>
export function verifyReceipt(
  receipt: string,
  options: ReceiptOptions & { identifier: Identifier },
): Promise<VerifiedReceipt<NothingHeldRecord>>
export function verifyReceipt(receipt: string, options: ReceiptOptions): Promise<VerifiedReceipt>
export async function verifyReceipt(
  receipt: string,
  { verifierKeys, ...expected }: ReceiptOptions,
): Promise<VerifiedReceipt> {
  const parts = parseReceipt(receipt)
  const { record, checkpoint } = await verifyEntry(parts, { verifierKeys })
  const isSubjectProven = await verifyPerson(record, parts, expected)
  return { record, index: parts.index, checkpoint, isSubjectProven }
}

/** Whether the nonce proves whom an entry is about. Throws a `VerificationError` if it is about others. */
export function verifyPerson(
  record: LedgerRecord,
  parts: Pick<ReceiptParts, 'nonce'>,
  expected: ExpectedPerson,
): Promise<boolean> {
  return record.version === 1 ? isErasureOf(record, parts, expected) : isAbout(record, parts, expected)
}

async function isErasureOf(
  { trackerId: ofTracker, subject }: ErasureRecord,
  { nonce }: Pick<ReceiptParts, 'nonce'>,
  { trackerId, subjectId, identifier }: ExpectedPerson,
): Promise<boolean> {
  if (identifier !== undefined) {
    throw new VerificationError(
      'wrong_kind',
      'The receipt is of an erasure, which is not about an identifier but about a data subject ID.',
    )
  }
  if (trackerId !== undefined && trackerId !== ofTracker) {
    throw new VerificationError('wrong_tracker', 'The receipt is of another tracker.')
  }
  if (subjectId === undefined) return false
  if (subject !== (await digestOf(nonce, ofTracker, subjectId))) {
    throw new VerificationError('wrong_subject', 'The receipt is of another data subject.')
  }
  return true
}

async function isAbout(
  { person }: NothingHeldRecord,
  { nonce }: Pick<ReceiptParts, 'nonce'>,
  { trackerId, subjectId, identifier }: ExpectedPerson,
): Promise<boolean> {
  if (trackerId !== undefined || subjectId !== undefined) {
    throw new VerificationError(
      'wrong_kind',
      'The receipt is not of an erasure: it proves that nothing was held about the person with an identifier.',
    )
  }
  if (identifier === undefined) return false
  if (person !== (await digestOf(nonce, identifier.name, comparableValue(identifier)))) {
    throw new VerificationError('wrong_person', 'The receipt is about another identifier.')
  }
  return true
}

/** The value as the service compares it: in NFC, and an email address in lower case. */
function comparableValue({ name, value }: Identifier): string {
  const composed = value.normalize('NFC')
  return name === 'email' ? composed.toLowerCase().normalize('NFC') : composed
}

/** The digest in the ledger of a data subject or an identifier. */
async function digestOf(nonce: ReceiptParts['nonce'], scope: string, id: string): Promise<string> {
  return encodeBase64Url(await hmacSha256(nonce, new TextEncoder().encode(`${scope}\0${id}`)))
}
