import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ActivityEntry, ActivityPosition, ActivityStore, SubjectCounts } from '../domain/activity.ts'
import type { Problems } from '../domain/errors.ts'
import { earliestInstant, type Instant } from '../domain/instant.ts'
import type { Keyring } from '../domain/keyring.ts'
import type { LedgerEntry, LedgerStore, TombstoneStore } from '../domain/ledger.ts'
import {
  defaultPageSize,
  encodeCursor,
  type ListIdentity,
  maxPageSize,
  type Page,
  readCursor,
} from '../domain/page.ts'
import { type ErasureRecord, parseRecord } from '../domain/receipt.ts'
import type { EventQuery, EventStore, SessionQuery, SessionStore } from '../domain/session.ts'
import type { SubjectQuery, SubjectStore, SubjectSummary } from '../domain/subject.ts'
import type { TrackerStore, TrackerView } from '../domain/tracker.ts'

interface ErasureListOptions {
  limit?: number
  cursor?: string
}

/** A page of erasures: those before an index, or the newest. */
interface ErasureQuery {
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
  const size = (await deps.ledger.head(organisationId))?.frontier.size ?? 0
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

/** What is stored of a subject that was erased after it had happened. */
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

/** Walks the subjects of every tracker of an organisation that has tombstones. `onSubjects` is told how many, now and then. */
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

/** Those of them that were erased, whoever has come back since among them. */
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

/** Looks at everything that the subject has now: one that is erased meanwhile has nothing. */
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
