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

/** What is told of a journal. */
export interface JournalReports {
  /** A write failed; what was to be written waits. */
  onFailed(error: Error): void
  /** Everything that waited is written. */
  onRecovered(): void
}

/** Keeps, apart from the store, what must not be lost with it. */
export interface Journal {
  /** Where it is, as it may stand in a log. */
  readonly place: string
  /** Resolves when the lines are on the disk. Rejects when they cannot be written: they then wait for the next write that succeeds. */
  append(lines: readonly JournalLine[]): Promise<void>
  /** Writes what waits since a write failed. Rejects when that still fails; does nothing when nothing waits. */
  recover(): Promise<void>
  /** How many lines wait since a write failed. */
  waitingLines(): number
  /** Every line that is there, in the order of the file. What a crash has torn, or is no line of ours, is left out and told of. */
  read(onUnreadable?: (line: number) => void): AsyncIterable<JournalLine>
  /** Has the reports told from now on, in place of others. */
  watch(reports: JournalReports): void
}

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
