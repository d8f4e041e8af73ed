import type { SubjectCounts } from './activity.ts'
import { formatInstant, type Instant, parseInstant } from './instant.ts'
import { type Fields, parseFields } from './json.ts'

/** The content of a ledger entry, by version. */
export type LedgerRecord = ErasureRecord | NothingHeldRecord

/** A subject was erased. */
export interface ErasureRecord {
  version: 1
  alreadyErased: boolean
  counts: SubjectCounts
  erasedAt: Instant
  /** The subject's commitment, which only the nonce links to the subject. */
  subject: string
  trackerId: string
}

/** Nothing was held about a person in any tracker. */
export interface NothingHeldRecord {
  version: 2
  checkedAt: Instant
  /** The person's commitment, which only the nonce links to an identifier of the person. */
  person: string
}

/** One line of canonical JSON (RFC 8785), with sorted keys. */
export function formatRecord(record: LedgerRecord): string {
  if (record.version === 2) {
    const { checkedAt, person, version } = record
    return JSON.stringify({ checkedAt: formatInstant(checkedAt), kind: 'nothing-held', person, version })
  }
  const { alreadyErased, counts, erasedAt, subject, trackerId, version } = record
  return JSON.stringify({
    alreadyErased,
    counts: { events: counts.events, sessions: counts.sessions },
    erasedAt: formatInstant(erasedAt),
    subject,
    trackerId,
    version,
  })
}

/** `null` for text that `formatRecord` did not write. */
export function parseRecord(text: string): LedgerRecord | null {
  const fields = parseFields(text)
  const record = fields.version === 2 ? readNothingHeld(fields) : readErasure(fields)
  return record && formatRecord(record) === text ? record : null
}

/** `null` also for entries that are not erasures. */
export function parseErasureRecord(text: string): ErasureRecord | null {
  const record = parseRecord(text)
  return record?.version === 1 ? record : null
}

/** The commitment to whom an entry is about. */
export function commitmentOf(record: LedgerRecord): string {
  return record.version === 1 ? record.subject : record.person
}

/** When an entry was made. */
export function instantOf(record: LedgerRecord): Instant {
  return record.version === 1 ? record.erasedAt : record.checkedAt
}

function readErasure({ alreadyErased, counts, erasedAt, subject, trackerId }: Fields): ErasureRecord | null {
  const { events, sessions } = Object(counts)
  const instant = parseInstant(erasedAt)
  if (typeof alreadyErased !== 'boolean' || instant === null) return null
  if (typeof subject !== 'string' || typeof trackerId !== 'string') return null
  if (!Number.isSafeInteger(events) || !Number.isSafeInteger(sessions)) return null
  return { version: 1, alreadyErased, counts: { events, sessions }, erasedAt: instant, subject, trackerId }
}

function readNothingHeld({ checkedAt, person }: Fields): NothingHeldRecord | null {
  const instant = parseInstant(checkedAt)
  return typeof person === 'string' && instant !== null ? { version: 2, checkedAt: instant, person } : null
}
