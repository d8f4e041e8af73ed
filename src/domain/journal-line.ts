import { formatInstant, type Instant, parseInstant } from './instant.ts'
import { parseRecord } from './receipt.ts'

/** An entry of an organisation's ledger, and the tombstone that came with it; without one that was swept since. */
export interface JournalledErasure {
  kind: 'erasure'
  organisationId: string
  /** Where it stands in the ledger, from 0. */
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
  /** Of the new string: SHA-256 in hexadecimal digits. */
  hash: string
  lastFour: string
}

/** A change that must survive the loss of the store. Nothing in it tells anybody without the installation's secrets who was erased. */
export type JournalLine = JournalledErasure | JournalledRevocation | JournalledRotation

/** The instant of a change. */
export function instantOf(line: JournalLine): Instant {
  return line.kind === 'erasure' ? line.erasedAt : line.at
}

/** A line as it stands in a journal, without its end. */
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

/** Reads a line that `formatJournalLine` wrote. `null` for any other text. */
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
  const told = parseRecord(record)
  if (told === null) return null
  const { trackerId, erasedAt } = told
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
