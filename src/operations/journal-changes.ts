import type { KnownChanges } from '../domain/journal.ts'
import type { JournalLine } from '../domain/journal-line.ts'
import type { LedgerEntry } from '../domain/ledger.ts'
import { parseRecord } from '../domain/receipt.ts'
import type { Store, TransferRow, TransferTable } from '../domain/store.ts'
import { readPages } from './verify-copy.ts'

type Source = Pick<Store, 'ledger' | 'tombstones' | 'transfer'>

/** Few enough to be written in one go. */
const pageEntries = 250

/** All that a store knows of and a journal does not: entries of ledgers in their order, revocations and rotations of keys. */
export async function* readChanges(store: Source, known: KnownChanges): AsyncGenerator<JournalLine[]> {
  for await (const organisations of readPages(store.transfer, tableNamed(store, 'organisations'))) {
    for (const [id] of organisations) yield* readEntries(store, String(id), known)
  }
  for await (const changes of readKeyChanges(store)) {
    const lines = changes.filter((line) => !known.has(line))
    if (lines.length > 0) yield lines
  }
}

/** The rotations and revocations that a store knows of. */
export async function* readKeyChanges(store: Pick<Store, 'transfer'>): AsyncGenerator<JournalLine[]> {
  const keys = tableNamed(store, 'api_keys')
  for await (const rows of readPages(store.transfer, keys)) {
    yield rows.flatMap((row) => keyChanges(keys, row))
  }
}

/** The entries of a ledger that a journal does not hold, in their order, with their tombstones; those before `end` alone. */
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
    const told = entries.map((entry) => ({ ...entry, ...recordOf(organisationId, entry) }))
    const found = await tombstones.ofEntries(organisationId, told)
    const byIndex = new Map(found.map((tombstone) => [tombstone.ledgerIndex, tombstone]))
    const lines = told.map(({ index, record, trackerId, erasedAt }): JournalLine => {
      const { digest, refusedUntil } = byIndex.get(index) ?? {}
      const tombstone = digest && refusedUntil !== undefined ? { digest, refusedUntil } : null
      return { kind: 'erasure', organisationId, index, record, trackerId, erasedAt, tombstone }
    })
    yield lines.filter((line) => !known.has(line))
  }
}

function recordOf(organisationId: string, { index, record }: LedgerEntry) {
  const parsed = parseRecord(record)
  if (!parsed) throw new Error(`Entry ${index} of the ledger of "${organisationId}" cannot be read.`)
  return parsed
}

function tableNamed({ transfer }: Pick<Store, 'transfer'>, name: string): TransferTable {
  const table = transfer.tables.find((each) => each.name === name)
  if (!table) throw new Error(`There is no table ${name}.`)
  return table
}

function keyChanges({ columns }: TransferTable, row: TransferRow): JournalLine[] {
  const value = (name: string) => row[columns.findIndex((column) => column.name === name)] ?? null
  const [keyId, hash, lastFour] = [String(value('id')), String(value('hash')), String(value('last_four'))]
  const [rotatedAt, revokedAt] = [value('rotated_at'), value('revoked_at')]
  const lines: JournalLine[] = []
  if (rotatedAt !== null) lines.push({ kind: 'key.rotated', keyId, at: Number(rotatedAt), hash, lastFour })
  if (revokedAt !== null) lines.push({ kind: 'key.revoked', keyId, at: Number(revokedAt) })
  return lines
}
