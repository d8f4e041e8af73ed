import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ActivityEntry, ActivityPosition, ActivityStore, SubjectCounts } from '../domain/activity.ts'
import type { Problems } from '../domain/errors.ts'
import { earliestInstant, type Instant } from '../domain/instant.ts'
import type { Keyring } from '../domain/keyring.ts'
import type { LedgerEntry, LedgerStore, TombstoneStore } from '../domain/ledger.ts'
import { instantOf, type LedgerRecord, parseRecord } from '../domain/ledger-record.ts'
import {
  defaultPageSize,
  encodeCursor,
  type ListIdentity,
  maxPageSize,
  type Page,
  readCursor,
} from '../domain/page.ts'
import type { EventQuery, EventStore, SessionQuery, SessionStore } from '../domain/session.ts'
import type { SubjectQuery, SubjectStore, SubjectSummary } from '../domain/subject.ts'
import type { TrackerStore, TrackerView } from '../domain/tracker.ts'

interface ErasureListOptions {
  limit?: number
  cursor?: string
}

/** Erasures before an index, or the newest. */
export interface ErasureQuery {
  limit: number
  before: number | null
}

/** An entry of the ledger. An erasure has its actor if the activity log still has it. */
export interface DescribedEntry {
  index: number
  record: LedgerRecord
  by: Pick<ActivityEntry, 'actor' | 'requestId'> | null
}

export interface ErasureDeps {
  ledger: LedgerStore
  activity: ActivityStore
}

export function planErasureList(
  { limit = defaultPageSize, cursor }: ErasureListOptions,
  problems: Problems,
): ErasureQuery {
  const position = readCursor(list, cursor, problems)
  if (position && position.at < 0) problems.add('cursor', 'cursor lies outside the ledger')
  return { limit, before: position === null ? null : position.at }
}

/** Newest first, with the entries that nothing was held. */
export async function listErasures(
  deps: ErasureDeps,
  organisationId: string,
  { limit, before }: ErasureQuery,
): Promise<{ erasures: DescribedEntry[]; size: number; nextCursor: string | null }> {
  const size = (await deps.ledger.head(organisationId))?.frontier.size ?? 0
  const end = Math.min(before ?? size, size)
  const start = Math.max(0, end - limit)
  const entries = end > start ? await deps.ledger.list(organisationId, start, end - start) : []
  const erasures = await describeEntries(deps, organisationId, entries.reverse())
  return { erasures, size, nextCursor: erasuresBefore(start) }
}

/** The cursor of the erasures before an index; `null` if there are none. */
export function erasuresBefore(index: number): string | null {
  return index > 0 ? encodeCursor(list, index, 'erasure') : null
}

/** The activity entry is created just before the erasure; the clock may be adjusted in between. */
const noteMs = 1_000
/** Bounds the activity pages read for one page of erasures. */
const maxPages = 10

/** Rejects if the entry is not a valid record. */
export async function describeEntry(
  deps: Pick<ErasureDeps, 'activity'>,
  organisationId: string,
  entry: Pick<LedgerEntry, 'index' | 'record'>,
): Promise<DescribedEntry> {
  const [described] = await describeEntries(deps, organisationId, [entry])
  if (!described) throw new Error('An entry was lost while it was described.')
  return described
}

export async function describeEntries(
  deps: Pick<ErasureDeps, 'activity'>,
  organisationId: string,
  entries: readonly Pick<LedgerEntry, 'index' | 'record'>[],
): Promise<DescribedEntry[]> {
  const described = entries.map(({ index, record: text }): DescribedEntry => {
    const record = parseRecord(text)
    if (record === null) throw new Error(`Entry ${index} of the ledger is not a valid record.`)
    return { index, record, by: null }
  })
  const erasures = described.filter(({ record }) => record.version === 1)
  if (erasures.length === 0) return described
  const unknown = new Map(erasures.map((erasure) => [erasure.index, erasure]))
  for await (const { ledgerIndex, actor, requestId } of notesOf(deps, organisationId, erasures)) {
    const erasure = ledgerIndex === null ? undefined : unknown.get(ledgerIndex)
    if (!erasure || ledgerIndex === null) continue
    erasure.by = { actor, requestId }
    unknown.delete(ledgerIndex)
    if (unknown.size === 0) break
  }
  return described
}

/** The activity entries of erasures around the time of the given ones, newest first. */
async function* notesOf(
  { activity }: Pick<ErasureDeps, 'activity'>,
  organisationId: string,
  erasures: readonly DescribedEntry[],
): AsyncGenerator<ActivityEntry> {
  const times = erasures.map(({ record }) => instantOf(record))
  let after: ActivityPosition | null = { at: Math.max(...times) + 1, id: '' }
  const since = Math.min(...times) - noteMs
  for (let pages = 0; after !== null && pages < maxPages; pages++) {
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

/** Stored data of an erased subject that is older than its tombstone. */
export interface OlderData {
  trackerId: string
  subjectId: string
  refusedUntil: Instant
  counts: SubjectCounts
}

interface FindDeps {
  trackers: TrackerStore
  subjects: SubjectStore
  sessions: SessionStore
  events: EventStore
  tombstones: TombstoneStore
  keyring: Keyring
}

const limit = 200

/** Reads all subjects of every tracker with tombstones. */
export async function* findOlderData(
  deps: FindDeps,
  organisationId: string,
  onSubjects: (count: number) => void = () => {},
): AsyncGenerator<OlderData, void, undefined> {
  for (const { id: trackerId } of await deps.trackers.list(organisationId)) {
    if (!(await deps.tombstones.has(trackerId))) continue
    const tracker = { organisationId, trackerId, since: earliestInstant }
    for await (const subjects of pagesOfSubjects(deps, tracker)) {
      onSubjects(subjects.length)
      for (const { subjectId, refusedUntil } of await withTombstones(deps, trackerId, subjects)) {
        const counts = await countUntil(deps, tracker, subjectId, refusedUntil)
        if (counts.sessions + counts.events > 0) yield { trackerId, subjectId, refusedUntil, counts }
      }
    }
  }
}

async function* pagesOfSubjects({ subjects }: FindDeps, tracker: TrackerView) {
  const none = { subjectIdPrefix: null, lastSeenAfter: null, lastSeenBefore: null }
  const query: SubjectQuery = { sort: 'subjectId', limit, after: null, ...none }
  do {
    const page = await subjects.list(tracker, query)
    if (page === null) return
    yield page.rows
    query.after = page.next
  } while (query.after !== null)
}

/** The subjects with tombstones, including those with newer data. */
async function withTombstones(
  { tombstones, keyring }: FindDeps,
  trackerId: string,
  subjects: readonly SubjectSummary[],
): Promise<{ subjectId: string; refusedUntil: Instant }[]> {
  const digests = subjects.flatMap(({ subjectId }) => keyring.tombstoneDigests(trackerId, subjectId))
  const found = await tombstones.refusedUntil(trackerId, digests)
  const each = keyring.tombstoneKeys.length
  return subjects.flatMap(({ subjectId }, i) => {
    const own = found.slice(i * each, (i + 1) * each).filter((until) => until !== null)
    return own.length === 0 ? [] : [{ subjectId, refusedUntil: Math.max(...own) }]
  })
}

async function countUntil(
  { sessions, events }: FindDeps,
  tracker: TrackerView,
  subjectId: string,
  until: Instant,
): Promise<SubjectCounts> {
  const counts = { sessions: 0, events: 0 }
  const sessionQuery: SessionQuery = { limit, after: null }
  do {
    const page = await sessions.list(tracker, subjectId, sessionQuery)
    counts.sessions += page?.rows.filter(({ startedAt }) => startedAt <= until).length ?? 0
    sessionQuery.after = page?.next ?? null
  } while (sessionQuery.after !== null)
  const eventQuery: EventQuery = { limit, after: null, sessionId: null }
  do {
    const page = await events.list(tracker, subjectId, eventQuery)
    counts.events += page?.rows.filter(({ occurredAt }) => occurredAt <= until).length ?? 0
    eventQuery.after = page?.next ?? null
  } while (eventQuery.after !== null)
  return counts
}
