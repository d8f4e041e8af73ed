import type { Problems } from '../domain/errors.ts'
import { isIdentifier } from '../domain/identifier.ts'
import { type Instant, readInstant } from '../domain/instant.ts'
import type { MaybePromise } from '../domain/maybe-promise.ts'
import {
  defaultPageSize,
  encodeCursor,
  type ListIdentity,
  maxPageBytes,
  type Page,
  readCursor,
} from '../domain/page.ts'
import { refKey, type SubjectRef } from '../domain/person.ts'
import { timeSlices } from '../domain/semaphore.ts'
import type { Event, EventStore, Session, SessionStore } from '../domain/session.ts'
import type { OrganisationView } from '../domain/subject-search.ts'

/** The maximum number of records that a timeline merges. Each is read for every page. */
export const maxTimelineRecords = 50
/** How many sources are read concurrently. */
const concurrentReads = 8
/** Approximately, apart from attributes and properties. */
const bytesPerEntry = 300

/** An event, or a session at its start. */
interface TimelineEntry {
  /** The index of its record. */
  record: number
  session: Session | null
  event: Event | null
}

interface TimelinePosition {
  at: Instant
  id: string
}

/** A page of the timeline of some records, newest first. */
interface TimelineQuery {
  records: readonly SubjectRef[]
  limit: number
  after: TimelinePosition | null
}

interface TimelineOptions {
  records: readonly SubjectRef[]
  limit?: number
  cursor?: string
  /** Only what happened before this instant. */
  until?: string
}

/** JSON can contain lone surrogates, which a schema does not detect. */
export function planTimeline(options: TimelineOptions, problems: Problems): TimelineQuery {
  const { records = [], limit = defaultPageSize } = options
  if (!records.every(({ trackerId, subjectId }) => isIdentifier(trackerId) && isIdentifier(subjectId)))
    problems.add('records', 'records must name trackers and data subjects')
  const isClear = !problems.has('records')
  const position = readCursor(isClear ? identityOf(records) : null, options.cursor, problems)
  const until = readInstant('until', options.until, problems)
  return { records, limit, after: position ?? (until === null ? null : { at: until, id: '' }) }
}

/**
 * Merges the sessions and events of records in any trackers. A record that is not visible has none. A page
 * reads little more of each record than it returns, and yields to other requests.
 */
export async function readTimeline(
  stores: { sessions: SessionStore; events: EventStore },
  view: OrganisationView,
  { records, limit, after }: TimelineQuery,
  signal?: AbortSignal,
): Promise<{ entries: TimelineEntry[]; nextCursor: string | null }> {
  const chunk = Math.ceil(limit / (2 * records.length))
  const sources = records.flatMap((ref, record) => [
    new Source(eventsOf(stores.events, view, ref, record), after, chunk),
    new Source(sessionsOf(stores.sessions, view, ref, record), after, chunk),
  ])
  const pause = timeSlices()
  for (let i = 0; i < sources.length; i += concurrentReads) {
    await pause()
    signal?.throwIfAborted()
    await Promise.all(sources.slice(i, i + concurrentReads).map((source) => source.fill()))
  }
  const entries: TimelineEntry[] = []
  let bytes = 0
  let last: Placed | null = null
  for (;;) {
    const source = newestOf(sources)
    if (source === null) return { entries, nextCursor: null }
    const next = source.take()
    // What has the same position is on the same page, because the cursor is the position in every record.
    const isSame: boolean = last !== null && last.at === next.at && last.id === next.id
    bytes += bytesOf(next.entry)
    if (last !== null && !isSame && (entries.length >= limit || bytes > maxPageBytes))
      return { entries, nextCursor: encodeCursor(identityOf(records), last.at, last.id) }
    entries.push(next.entry)
    last = next
    if (source.isEmpty) {
      await pause()
      signal?.throwIfAborted()
      await source.fill()
    }
  }
}

interface Placed extends TimelinePosition {
  entry: TimelineEntry
}

type ReadSource = (
  after: TimelinePosition | null,
  limit: number,
) => MaybePromise<Page<Placed, unknown> | null>

/** The sessions or the events of a record, newest first, read in small chunks. */
class Source {
  readonly #read: ReadSource
  readonly #chunk: number
  #after: TimelinePosition | null
  #rows: Placed[] = []
  #isAtEnd = false

  constructor(read: ReadSource, after: TimelinePosition | null, chunk: number) {
    this.#read = read
    this.#after = after
    this.#chunk = chunk
  }

  get isEmpty(): boolean {
    return this.#rows.length === 0
  }

  get newest(): Placed | undefined {
    return this.#rows.at(-1)
  }

  /** Reads the next chunk, unless there is none. */
  async fill(): Promise<void> {
    if (this.#isAtEnd) return
    const page = await this.#read(this.#after, this.#chunk)
    this.#rows = page?.rows.reverse() ?? []
    this.#after = this.#rows[0] ?? null
    this.#isAtEnd = !page || page.next === null
  }

  take(): Placed {
    const row = this.#rows.pop()
    if (!row) throw new Error('The source has no row.')
    return row
  }
}

function eventsOf(events: EventStore, view: OrganisationView, ref: SubjectRef, record: number): ReadSource {
  return async (after, limit) => {
    const position = after && { occurredAt: after.at, eventId: after.id }
    const query = { limit, after: position, sessionId: null }
    const page = await events.list({ ...view, trackerId: ref.trackerId }, ref.subjectId, query)
    const place = (event: Event): Placed => ({
      ...{ at: event.occurredAt, id: event.eventId, entry: { record, session: null, event } },
    })
    return page && { rows: page.rows.map(place), next: page.next }
  }
}

function sessionsOf(
  sessions: SessionStore,
  view: OrganisationView,
  ref: SubjectRef,
  record: number,
): ReadSource {
  return async (after, limit) => {
    const position = after && { startedAt: after.at, sessionId: after.id }
    const query = { limit, after: position }
    const page = await sessions.list({ ...view, trackerId: ref.trackerId }, ref.subjectId, query)
    const place = (session: Session): Placed => ({
      ...{ at: session.startedAt, id: session.sessionId, entry: { record, session, event: null } },
    })
    return page && { rows: page.rows.map(place), next: page.next }
  }
}

/** The source with the newest row; `null` if all are at their end. */
function newestOf(sources: readonly Source[]): Source | null {
  let found: Source | null = null
  for (const source of sources) {
    if (source.newest && (!found?.newest || isNewer(source.newest, found.newest))) found = source
  }
  return found
}

/** Compares IDs by code points, as the engines do. */
function isNewer(a: TimelinePosition, b: TimelinePosition): boolean {
  if (a.at !== b.at) return a.at > b.at
  return a.id !== b.id && Buffer.compare(Buffer.from(a.id), Buffer.from(b.id)) > 0
}

function bytesOf({ event, session }: TimelineEntry): number {
  return bytesPerEntry + JSON.stringify(event?.properties ?? session?.attributes).length
}

function identityOf(records: readonly SubjectRef[]): ListIdentity {
  return ['timeline', ...records.map(refKey)]
}
