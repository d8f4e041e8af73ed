import { closingFields, closingKind, type JournalledClosing, parseClosing } from './closed-request.ts'
import type { CredentialKind, CredentialProof } from './credential.ts'
import { formatInstant, type Instant, parseInstant } from './instant.ts'
import { type Fields, parseFields } from './json.ts'
import type { Tombstone } from './ledger.ts'
import { instantOf, type LedgerRecord, parseRecord } from './ledger-record.ts'

/** An entry of an organisation's ledger. */
export interface JournalledEntry {
  kind: 'erasure' | 'nothing-held'
  organisationId: string
  index: number
  record: string
  at: Instant
  /** `null` if it was swept, and for an entry that nothing was held. */
  tombstone: JournalledTombstone | null
  /** Which of several journals it was read from. */
  journal?: number
}

/** The tombstone of an entry, whose instant is the entry's. */
interface JournalledTombstone extends LeftTombstone {
  trackerId: string
}

type LeftTombstone = Pick<Tombstone, 'digest' | 'refusedUntil'>

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
export type JournalLine = JournalledEntry | JournalledRevocation | JournalledRotation | JournalledClosing

export function isEntry(line: JournalLine): line is JournalledEntry {
  return line.kind === 'erasure' || line.kind === 'nothing-held'
}

/** The line of an entry. The tombstone is the one that the erasure left. */
export function journalledEntry(
  { organisationId, index, record }: Pick<JournalledEntry, 'organisationId' | 'index' | 'record'>,
  parsed: LedgerRecord,
  tombstone: LeftTombstone | null,
): JournalledEntry {
  const entry = { organisationId, index, record, at: instantOf(parsed) }
  if (parsed.version === 2) return { kind: 'nothing-held', ...entry, tombstone: null }
  const { trackerId } = parsed
  return { kind: 'erasure', ...entry, tombstone: tombstone && { trackerId, ...tombstone } }
}

const idFields: Record<CredentialKind, string> = { key: 'keyId', 'variable-token': 'tokenId' }

/** Without the trailing newline. */
export function formatJournalLine(line: JournalLine): string {
  if (line.kind === 'closing') return JSON.stringify(closingFields(line))
  if (!isEntry(line)) {
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

/** `null` for text that `formatJournalLine` did not write. */
export function parseJournalLine(text: string): JournalLine | null {
  const fields = parseFields(text)
  switch (fields.kind) {
    case 'erasure':
    case 'nothing-held':
      return parseEntry(fields)
    case 'key.revoked':
    case 'variable-token.revoked':
      return parseRevocation(fields.kind === 'key.revoked' ? 'key' : 'variable-token', fields)
    case 'key.rotated':
    case 'variable-token.rotated':
      return parseRotation(fields.kind === 'key.rotated' ? 'key' : 'variable-token', fields)
    case closingKind:
      return parseClosing(fields)
    default:
      return null
  }
}

const opening = '{"kind":"'

/** Whether an unreadable line is one that was not written whole, or one of a newer version. */
export function beginsAsJournalLine(text: string): boolean {
  // After a crash, a file system may have added zero bytes.
  const written = text.replace(/\0+$/, '')
  return written.startsWith(opening) || opening.startsWith(written)
}

function parseEntry(fields: Fields): JournalLine | null {
  const { kind, organisationId, index, record } = fields
  if (typeof organisationId !== 'string' || typeof record !== 'string') return null
  if (typeof index !== 'number' || !Number.isSafeInteger(index) || index < 0) return null
  const parsed = parseRecord(record)
  const tombstone = parseTombstone(fields)
  if (parsed === null || tombstone === undefined) return null
  const entry = journalledEntry({ organisationId, index, record }, parsed, tombstone)
  return entry.kind === kind ? entry : null
}

/** `null` if there is none, `undefined` if it is not valid. */
function parseTombstone({ digest, refusedUntil }: Fields): LeftTombstone | null | undefined {
  if (digest === undefined && refusedUntil === undefined) return null
  const until = parseInstant(refusedUntil)
  if (typeof digest !== 'string' || !/^[0-9a-f]{32}$/.test(digest) || until === null) return undefined
  return { digest: Buffer.from(digest, 'hex'), refusedUntil: until }
}

function parseRevocation(credential: CredentialKind, fields: Fields): JournalledRevocation | null {
  const id = fields[idFields[credential]]
  const at = parseInstant(fields.at)
  return typeof id === 'string' && at !== null ? { kind: 'revocation', credential, id, at } : null
}

function parseRotation(credential: CredentialKind, fields: Fields): JournalledRotation | null {
  const changed = parseRevocation(credential, fields)
  const { hash, lastFour } = fields
  if (changed === null || typeof lastFour !== 'string') return null
  if (typeof hash !== 'string' || !/^[0-9a-f]{64}$/.test(hash)) return null
  return { ...changed, kind: 'rotation', hash, lastFour }
}
