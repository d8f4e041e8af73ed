import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ActivityEntry, ActivityPosition, ActivityStore } from '../../domain/activity.ts'
import { encodeCursor, type ListIdentity, readCursor } from '../../domain/cursor.ts'
import type { LedgerEntry, LedgerStore } from '../../domain/ledger.ts'
import { defaultPageSize, maxPageSize, type Page } from '../../domain/page.ts'
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
  const erasures = await describeErasures(deps, organisationId, entries.reverse())
  return { erasures, size, nextCursor: start > 0 ? encodeCursor(list, start, 'erasure') : null }
}

/** The note of an erasure is made just before it; a clock that is set right meanwhile moves them apart. */
const noteMs = 1_000
/** So many pages of notes are looked through for a page of erasures, which has about as many. */
const mostPages = 10

/** What an entry tells, with who asked for it. Rejects when it is not written as an erasure is. */
export async function describeErasure(
  deps: Pick<ErasureDeps, 'activity'>,
  organisationId: string,
  entry: Pick<LedgerEntry, 'index' | 'record'>,
): Promise<LedgerErasure> {
  const [erasure] = await describeErasures(deps, organisationId, [entry])
  if (!erasure) throw new Error('An entry was lost while it was described.')
  return erasure
}

async function describeErasures(
  deps: Pick<ErasureDeps, 'activity'>,
  organisationId: string,
  entries: readonly Pick<LedgerEntry, 'index' | 'record'>[],
): Promise<LedgerErasure[]> {
  const erasures = entries.map(({ index, record: text }): LedgerErasure => {
    const record = parseRecord(text)
    if (record === null) throw new Error(`Entry ${index} of the ledger is not written as an erasure is.`)
    return { index, record, by: null }
  })
  if (erasures.length === 0) return erasures
  const unknown = new Map(erasures.map((erasure) => [erasure.index, erasure]))
  for await (const { ledgerIndex, actor, requestId } of notesOf(deps, organisationId, erasures)) {
    const erasure = ledgerIndex === null ? undefined : unknown.get(ledgerIndex)
    if (!erasure || ledgerIndex === null) continue
    erasure.by = { actor, requestId }
    unknown.delete(ledgerIndex)
    if (unknown.size === 0) break
  }
  return erasures
}

/** The notes of erasures from the time of some of them, newest first. */
async function* notesOf(
  { activity }: Pick<ErasureDeps, 'activity'>,
  organisationId: string,
  erasures: readonly LedgerErasure[],
): AsyncGenerator<ActivityEntry> {
  const times = erasures.map(({ record }) => record.erasedAt)
  let after: ActivityPosition | null = { at: Math.max(...times) + 1, id: '' }
  const since = Math.min(...times) - noteMs
  for (let pages = 0; after !== null && pages < mostPages; pages++) {
    const page: Page<ActivityEntry, ActivityPosition> = await activity.list(organisationId, {
      ...{ limit: maxPageSize, requestId: null, kind: 'subject.erased' },
      ...{ after, since },
    })
    yield* page.rows
    after = page.next
    await nextTurn()
  }
}

const list: ListIdentity = ['erasures']
