import type { CredentialKind, CredentialProof } from './credential.ts'
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
  kind: 'revocation'
  credential: CredentialKind
  id: string
  at: Instant
}

/** A credential with a new string. */
export interface JournalledRotation extends CredentialProof {
  kind: 'rotation'
  credential: CredentialKind
  id: string
  at: Instant
}

/** A change that must survive the loss of the store. Without the secrets, it identifies no subject. */
export type JournalLine = JournalledErasure | JournalledRevocation | JournalledRotation

export function instantOf(line: JournalLine): Instant {
  return line.kind === 'erasure' ? line.erasedAt : line.at
}

const idFields: Record<CredentialKind, string> = { key: 'keyId', 'variable-token': 'tokenId' }

/** Without the trailing newline. */
export function formatJournalLine(line: JournalLine): string {
  if (line.kind !== 'erasure') {
    const { credential, id } = line
    const changed = { [idFields[credential]]: id, at: formatInstant(line.at) }
    if (line.kind === 'revocation') return JSON.stringify({ kind: `${credential}.revoked`, ...changed })
    const { hash, lastFour } = line
    return JSON.stringify({ kind: `${credential}.rotated`, ...changed, hash, lastFour })
  }
  const { kind, organisationId, index, record, tombstone } = line
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
    case 'variable-token.revoked':
      return parseRevocation(fields.kind === 'key.revoked' ? 'key' : 'variable-token', fields)
    case 'key.rotated':
    case 'variable-token.rotated':
      return parseRotation(fields.kind === 'key.rotated' ? 'key' : 'variable-token', fields)
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

function parseRevocation(credential: CredentialKind, fields: Fields): JournalledRevocation | null {
  const id = fields[idFields[credential]]
  const at = readInstant(fields.at)
  return typeof id === 'string' && at !== null ? { kind: 'revocation', credential, id, at } : null
}

function parseRotation(credential: CredentialKind, fields: Fields): JournalledRotation | null {
  const changed = parseRevocation(credential, fields)
  const { hash, lastFour } = fields
  if (changed === null || typeof lastFour !== 'string') return null
  if (typeof hash !== 'string' || !/^[0-9a-f]{64}$/.test(hash)) return null
  return { ...changed, kind: 'rotation', hash, lastFour }
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
