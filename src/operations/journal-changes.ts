import type { CredentialKind } from '../domain/credential.ts'
import type { KnownChanges } from '../domain/journal.ts'
import { type JournalLine, journalledEntry } from '../domain/journal-line.ts'
import type { LedgerEntry } from '../domain/ledger.ts'
import { instantOf, type LedgerRecord, parseRecord } from '../domain/ledger-record.ts'
import type { Store, TransferRow, TransferTable } from '../domain/store.ts'
import { readClosings } from './journal-closing.ts'
import { readPages } from './verify-copy.ts'

export type ChangesSource = Pick<
  Store,
  'ledger' | 'tombstones' | 'transfer' | 'privacyRequests' | 'requestHandling'
>

const pageEntries = 250

/**
 * All changes in a store that a journal lacks: ledger entries in order, then closings of requests and changes
 * of credentials.
 */
export async function* readChanges(store: ChangesSource, known: KnownChanges): AsyncGenerator<JournalLine[]> {
  for await (const organisations of readPages(store.transfer, tableNamed(store, 'organisations'))) {
    for (const [id] of organisations) yield* readEntries(store, String(id), known)
  }
  for await (const closing of readClosings(store, known)) yield [closing]
  for await (const changes of readCredentialChanges(store)) {
    const lines = changes.filter((line) => !known.has(line))
    if (lines.length > 0) yield lines
  }
}

const credentialTables: Record<CredentialKind, string> = {
  key: 'api_keys',
  'variable-token': 'variable_tokens',
}

/** All rotations and revocations in a store. */
export async function* readCredentialChanges(store: Pick<Store, 'transfer'>): AsyncGenerator<JournalLine[]> {
  for (const credential of ['key', 'variable-token'] as const) {
    const table = tableNamed(store, credentialTables[credential])
    for await (const rows of readPages(store.transfer, table)) {
      yield rows.flatMap((row) => credentialChanges(credential, table, row))
    }
  }
}

/** The ledger entries before `end` that a journal lacks, in order, with their tombstones. */
export async function* readEntries(
  { ledger, tombstones }: Pick<Store, 'ledger' | 'tombstones'>,
  organisationId: string,
  known: KnownChanges,
  end = Number.MAX_SAFE_INTEGER,
): AsyncGenerator<JournalLine[]> {
  for (let next = known.ledger(organisationId).next; next < end; ) {
    const entries = await ledger.list(organisationId, next, Math.min(pageEntries, end - next))
    const last = entries.at(-1)
    if (!last) return
    next = last.index + 1
    const parsed = entries.map((entry) => ({ ...entry, parsed: recordOf(organisationId, entry) }))
    const erasures = parsed.map(({ index, parsed }) => ({ index, erasedAt: instantOf(parsed) }))
    const found = await tombstones.ofEntries(organisationId, erasures)
    const byIndex = new Map(found.map((tombstone) => [tombstone.ledgerIndex, tombstone]))
    const lines = parsed.map(({ index, record, parsed }): JournalLine => {
      const { digest, refusedUntil } = byIndex.get(index) ?? {}
      const tombstone = digest && refusedUntil !== undefined ? { digest, refusedUntil } : null
      return journalledEntry({ organisationId, index, record }, parsed, tombstone)
    })
    yield lines.filter((line) => !known.has(line))
  }
}

function recordOf(organisationId: string, { index, record }: LedgerEntry): LedgerRecord {
  const parsed = parseRecord(record)
  if (!parsed) throw new Error(`Entry ${index} of the ledger of "${organisationId}" cannot be read.`)
  return parsed
}

function tableNamed({ transfer }: Pick<Store, 'transfer'>, name: string): TransferTable {
  const table = transfer.tables.find((each) => each.name === name)
  if (!table) throw new Error(`There is no table ${name}.`)
  return table
}

function credentialChanges(
  credential: CredentialKind,
  { columns }: TransferTable,
  row: TransferRow,
): JournalLine[] {
  const value = (name: string) => row[columns.findIndex((column) => column.name === name)] ?? null
  const [id, hash, lastFour] = [String(value('id')), String(value('hash')), String(value('last_four'))]
  const [rotatedAt, revokedAt] = [value('rotated_at'), value('revoked_at')]
  const lines: JournalLine[] = []
  if (rotatedAt !== null) {
    lines.push({ kind: 'rotation', credential, id, at: Number(rotatedAt), hash, lastFour })
  }
  if (revokedAt !== null) lines.push({ kind: 'revocation', credential, id, at: Number(revokedAt) })
  return lines
}
