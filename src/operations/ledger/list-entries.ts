import { encodeCursor, type ListIdentity, readCursor } from '../../domain/cursor.ts'
import type { LedgerEntry, LedgerStore } from '../../domain/ledger.ts'
import { defaultPageSize } from '../../domain/page.ts'
import type { Problems } from '../../domain/problems.ts'

export interface EntryListOptions {
  limit?: number
  cursor?: string
}

/** A page of a ledger: entries from an index on. */
export interface EntryQuery {
  limit: number
  from: number
}

/** Turns what a client asked for into a query. */
export function planEntryList(
  { limit = defaultPageSize, cursor }: EntryListOptions,
  problems: Problems,
): EntryQuery {
  const position = readCursor(list, cursor, problems)
  return { limit, from: position === null ? 0 : position.at }
}

/** A page of an organisation's ledger, oldest first. Entries are short: no page comes near the bytes that one may hold. */
export async function listEntries(
  { ledger }: { ledger: LedgerStore },
  organisationId: string,
  { limit, from }: EntryQuery,
): Promise<{ entries: LedgerEntry[]; nextCursor: string | null }> {
  const found = await ledger.list(organisationId, from, limit + 1)
  const next = found[limit]
  return {
    entries: found.slice(0, limit),
    nextCursor: next ? encodeCursor(list, next.index, 'entry') : null,
  }
}

const list: ListIdentity = ['entries']
