import { type Counts, isCounts } from './api.ts'
import { decodeBase64Url } from './base64.ts'
import { isIdentifier } from './identifier.ts'
import { VerificationError } from './verification-error.ts'

/** The content of a ledger entry; `version` distinguishes the kinds. */
export type LedgerRecord = ErasureRecord | NothingHeldRecord

/** What an erasure deleted, and when. */
export interface ErasureRecord {
  version: 1
  trackerId: string
  /** A digest of the data subject, which only the receipt can resolve. */
  subject: string
  alreadyErased: boolean
  counts: Counts
  erasedAt: string
}

/** That nothing was held about a person in any tracker, and when. */
export interface NothingHeldRecord {
  version: 2
  kind: 'nothing-held'
  /** A digest of an identifier of the person, which only the receipt can resolve. */
  person: string
  checkedAt: string
}

/**
 * Parses an entry. Only canonical JSON (RFC 8785) with exactly the fields of its version is accepted. An
 * entry of a version that this program does not know is not malformed, but cannot be explained.
 */
export function parseLedgerRecord(text: string): LedgerRecord {
  const record = parse(text)
  if (isOfNewerVersion(record)) {
    throw new VerificationError(
      'unsupported',
      'The entry in the receipt has a newer version. Verify it with a newer version of this program.',
    )
  }
  if (!isErasureRecord(record) && !isNothingHeldRecord(record))
    throw malformed('a field is missing or invalid')
  if (canonical(record) !== text) throw malformed('it is not canonical JSON, or has other fields')
  return record
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw malformed('it is not JSON')
  }
}

type Fields = Partial<Record<string, unknown>>

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' ? { ...value } : {}
}

function isOfNewerVersion(value: unknown): boolean {
  const { version } = fieldsOf(value)
  return typeof version === 'number' && Number.isSafeInteger(version) && version > 2
}

function isErasureRecord(value: unknown): value is ErasureRecord {
  const { version, trackerId, subject, alreadyErased, counts, erasedAt } = fieldsOf(value)
  return (
    version === 1 &&
    isIdentifier(trackerId) &&
    isDigest(subject) &&
    typeof alreadyErased === 'boolean' &&
    isCounts(counts) &&
    [counts.events, counts.sessions].every((count) => Number.isSafeInteger(count) && count >= 0) &&
    isInstant(erasedAt)
  )
}

function isNothingHeldRecord(value: unknown): value is NothingHeldRecord {
  const { version, kind, person, checkedAt } = fieldsOf(value)
  return version === 2 && kind === 'nothing-held' && isDigest(person) && isInstant(checkedAt)
}

function isDigest(value: unknown): boolean {
  return typeof value === 'string' && decodeBase64Url(value)?.length === 32
}

function isInstant(value: unknown): value is string {
  if (typeof value !== 'string') return false
  const date = new Date(value)
  return !Number.isNaN(date.getTime()) && date.toISOString() === value
}

function canonical(record: LedgerRecord): string {
  if (record.version === 2) {
    const { checkedAt, kind, person, version } = record
    return JSON.stringify({ checkedAt, kind, person, version })
  }
  const { alreadyErased, counts, erasedAt, subject, trackerId, version } = record
  const { events, sessions } = counts
  return JSON.stringify({
    alreadyErased,
    counts: { events, sessions },
    erasedAt,
    subject,
    trackerId,
    version,
  })
}

function malformed(what: string): VerificationError {
  return new VerificationError('malformed_record', `The entry in the receipt is malformed: ${what}.`)
}
