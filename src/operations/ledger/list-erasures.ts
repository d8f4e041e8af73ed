import type { ActivityEntry, ActivityStore } from '../../domain/activity.ts'
import { encodeCursor, type ListIdentity, readCursor } from '../../domain/cursor.ts'
import type { LedgerEntry, LedgerStore } from '../../domain/ledger.ts'
import { defaultPageSize } from '../../domain/page.ts'
import type { Problems } from '../../domain/problems.ts'
import { type ErasureRecord, parseRecord } from '../../domain/receipt.ts'

export interface ErasureListOptions {
  limit?: number
  cursor?: string
}

/** A page of erasures: those before an index, or the newest. */
export interface ErasureQuery {
  limit: number
  before: number | null
}

/** An erasure as the ledger tells of it, with who asked for it where the activity still knows. */
export interface LedgerErasure {
  index: number
  record: ErasureRecord
  by: Pick<ActivityEntry, 'actor' | 'requestId'> | null
}

interface ErasureDeps {
  ledger: LedgerStore
  activity: ActivityStore
}

/** Turns what a client asked for into a query. */
export function planErasureList(
  { limit = defaultPageSize, cursor }: ErasureListOptions,
  problems: Problems,
): ErasureQuery {
  const position = readCursor(list, cursor, problems)
  if (position && position.at < 0) problems.add('cursor', 'cursor lies outside the ledger')
  return { limit, before: position === null ? null : position.at }
}

/** A page of an organisation's erasures, newest first. */
export async function listErasures(
  deps: ErasureDeps,
  organisationId: string,
  { limit, before }: ErasureQuery,
): Promise<{ erasures: LedgerErasure[]; size: number; nextCursor: string | null }> {
  const size = (await deps.ledger.head(organisationId))?.edge.size ?? 0
  const end = Math.min(before ?? size, size)
  const start = Math.max(0, end - limit)
  const entries = end > start ? await deps.ledger.list(organisationId, start, end - start) : []
  const erasures = await Promise.all(
    entries.reverse().map((entry) => describeErasure(deps, organisationId, entry)),
  )
  return { erasures, size, nextCursor: start > 0 ? encodeCursor(list, start, 'erasure') : null }
}

/** The note of an erasure is made just before it; a clock that is set right meanwhile moves them apart. */
const noteMs = 1_000
const mostNotes = 500

/** What an entry tells, with who asked for it. Rejects when it is not written as an erasure is. */
export async function describeErasure(
  { activity }: Pick<ErasureDeps, 'activity'>,
  organisationId: string,
  { index, record: text }: Pick<LedgerEntry, 'index' | 'record'>,
): Promise<LedgerErasure> {
  const record = parseRecord(text)
  if (record === null) throw new Error(`Entry ${index} of the ledger is not written as an erasure is.`)
  const { rows } = await activity.list(organisationId, {
    ...{ limit: mostNotes, requestId: null },
    ...{ after: { at: record.erasedAt + 1, id: '' }, since: record.erasedAt - noteMs },
  })
  const note = rows.find(({ ledgerIndex }) => ledgerIndex === index)
  return { index, record, by: note ? { actor: note.actor, requestId: note.requestId } : null }
}

const list: ListIdentity = ['erasures']
