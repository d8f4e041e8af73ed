import { formatInstant, type Instant, parseInstant } from './instant.ts'
import { parseRecord } from './receipt.ts'

/** An entry of an organisation's ledger with its tombstone, unless that has been swept. */
export interface JournalledErasure {
  kind: 'erasure'
  organisationId: string
  index: number
  record: string
  trackerId: string
  erasedAt: Instant
  tombstone: { digest: Uint8Array; refusedUntil: Instant } | null
}

export interface JournalledRevocation {
  kind: 'key.revoked'
  keyId: string
  at: Instant
}

export interface JournalledRotation {
  kind: 'key.rotated'
  keyId: string
  at: Instant
  /** SHA-256 of the new key string, in hexadecimal. */
  hash: string
  lastFour: string
}

/** A change that must survive the loss of the store. Without the secrets, it identifies no subject. */
export type JournalLine = JournalledErasure | JournalledRevocation | JournalledRotation

export function instantOf(line: JournalLine): Instant {
  return line.kind === 'erasure' ? line.erasedAt : line.at
}

/** Without the trailing newline. */
export function formatJournalLine(line: JournalLine): string {
  const { kind } = line
  if (kind === 'key.revoked') return JSON.stringify({ kind, keyId: line.keyId, at: formatInstant(line.at) })
  if (kind === 'key.rotated') {
    const { keyId, at, hash, lastFour } = line
    return JSON.stringify({ kind, keyId, at: formatInstant(at), hash, lastFour })
  }
  const { organisationId, index, record, tombstone } = line
  return JSON.stringify({
    kind,
    organisationId,
    index,
    record,
    ...(tombstone && {
      digest: Buffer.from(tombstone.digest).toString('hex'),
      refusedUntil: formatInstant(tombstone.refusedUntil),
    }),
  })
}

type Fields = Partial<Record<string, unknown>>

/** `null` for text that `formatJournalLine` did not write. */
export function parseJournalLine(text: string): JournalLine | null {
  const fields = parseObject(text)
  switch (fields.kind) {
    case 'erasure':
      return parseErasure(fields)
    case 'key.revoked':
    case 'key.rotated':
      return parseKeyChange(fields)
    default:
      return null
  }
}

function parseErasure({ organisationId, index, record, digest, refusedUntil }: Fields): JournalLine | null {
  if (typeof organisationId !== 'string' || typeof record !== 'string') return null
  if (typeof index !== 'number' || !Number.isSafeInteger(index) || index < 0) return null
  const parsed = parseRecord(record)
  if (parsed === null) return null
  const { trackerId, erasedAt } = parsed
  const entry = { kind: 'erasure', organisationId, index, record, trackerId, erasedAt } as const
  if (digest === undefined && refusedUntil === undefined) return { ...entry, tombstone: null }
  const until = readInstant(refusedUntil)
  if (typeof digest !== 'string' || !/^[0-9a-f]{32}$/.test(digest) || until === null) return null
  return { ...entry, tombstone: { digest: Buffer.from(digest, 'hex'), refusedUntil: until } }
}

function parseKeyChange({ kind, keyId, at, hash, lastFour }: Fields): JournalLine | null {
  const instant = readInstant(at)
  if (typeof keyId !== 'string' || instant === null) return null
  if (kind === 'key.revoked') return { kind, keyId, at: instant }
  if (typeof hash !== 'string' || !/^[0-9a-f]{64}$/.test(hash) || typeof lastFour !== 'string') return null
  return { kind: 'key.rotated', keyId, at: instant, hash, lastFour }
}

function readInstant(value: unknown): Instant | null {
  return typeof value === 'string' ? parseInstant(value) : null
}

function parseObject(text: string): Fields {
  try {
    return { ...JSON.parse(text) }
  } catch {
    return {}
  }
}
