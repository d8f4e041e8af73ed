import { type Counts, isCounts } from './api.ts'
import { decodeBase64Url } from './base64.ts'
import { isIdentifier } from './identifier.ts'
import { VerificationError } from './verification-error.ts'

/** An entry of the ledger: what an erasure deleted, and when. */
export interface ErasureRecord {
  version: 1
  trackerId: string
  /** A digest of the data subject, which only the receipt can resolve. */
  subject: string
  alreadyErased: boolean
  counts: Counts
  erasedAt: string
}

/** Parses an entry. Only canonical JSON (RFC 8785) with exactly these fields is accepted. */
export function parseErasureRecord(text: string): ErasureRecord {
  const record = parse(text)
  if (!isErasureRecord(record)) throw malformed('a field is missing or invalid')
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

function isErasureRecord(value: unknown): value is ErasureRecord {
  if (typeof value !== 'object' || value === null) return false
  const { version, trackerId, subject, alreadyErased, counts, erasedAt }: Partial<Record<string, unknown>> = {
    ...value,
  }
  return (
    version === 1 &&
    isIdentifier(trackerId) &&
    typeof subject === 'string' &&
    decodeBase64Url(subject)?.length === 32 &&
    typeof alreadyErased === 'boolean' &&
    isCounts(counts) &&
    [counts.events, counts.sessions].every((count) => Number.isSafeInteger(count) && count >= 0) &&
    isInstant(erasedAt)
  )
}

function isInstant(value: unknown): value is string {
  if (typeof value !== 'string') return false
  const date = new Date(value)
  return !Number.isNaN(date.getTime()) && date.toISOString() === value
}

function canonical({ alreadyErased, counts, erasedAt, subject, trackerId, version }: ErasureRecord): string {
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
