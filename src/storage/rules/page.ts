import { setImmediate as nextTurn } from 'node:timers/promises'
import { endOfPrefix } from '../../domain/identifier.ts'
import type { Instant } from '../../domain/instant.ts'
import { andThen, type MaybePromise } from '../../domain/maybe-promise.ts'
import { maxPageBytes, type Page } from '../../domain/page.ts'
import { type SubjectQuery, subjectKey } from '../../domain/subject.ts'
import type { FoundSubject, Sought } from '../../domain/subject-search.ts'
import type { TrackerView } from '../../domain/tracker.ts'
import { asText, type Values } from '../nouns/row.ts'

/** Up to this length a text is counted as three bytes per character, which avoids measuring it. */
const shortText = 256
/** The bytes of a row in a response apart from its texts: field names, timestamps, counts. */
const bytesBesideTexts = 128

/** The approximate size of a row in a response; never less than the size of its texts. */
function bytesOf(row: Values): number {
  let bytes = bytesBesideTexts
  for (const value of row) {
    if (typeof value !== 'string') continue
    bytes += value.length <= shortText ? 3 * value.length : Buffer.byteLength(value)
  }
  return bytes
}

/** Builds a page. It ends at `limit` items, or before the item that would exceed `maxPageBytes`. */
export class PageBuilder<Item, Position> {
  readonly #limit: number
  readonly #toPosition: (item: Item) => Position
  readonly #items: Item[] = []
  #bytes = 0
  /** Whether an item did not fit, so that another page follows. */
  isFull = false

  constructor(limit: number, toPosition: (item: Item) => Position) {
    this.#limit = limit
    this.#toPosition = toPosition
  }

  /**
   * Adds rows until one does not fit; the first always fits. Rows for which `toItem` returns `null` are
   * skipped.
   */
  addAll(rows: Iterable<Values>, toItem: (row: Values) => Item | null): void {
    for (const row of rows) {
      const item = toItem(row)
      if (item === null) continue
      this.#bytes += bytesOf(row)
      const fits = this.#items.length < this.#limit && this.#bytes <= maxPageBytes
      this.isFull = !fits && this.#items.length > 0
      if (this.isFull) return
      this.#items.push(item)
    }
  }

  page(): Page<Item, Position> {
    const last = this.#items.at(-1)
    return { rows: this.#items, next: this.isFull && last !== undefined ? this.#toPosition(last) : null }
  }
}

/** The number of rows read between two turns of the event loop. */
const longChunk = 1_000

/**
 * Reads a page of a list that may contain expired rows not swept yet. Usually the first chunk fills it;
 * otherwise it continues and serves other requests in between. `read` adds the visible ones of the next
 * `count` rows and returns all of them; `null` if the list does not exist.
 */
export function readPage<Item, Position>(
  { limit, after }: { limit: number; after: Position | null },
  read: (
    page: PageBuilder<Item, Position>,
    after: Position | null,
    count: number,
  ) => MaybePromise<readonly Values[] | null>,
  position: { ofItem(item: Item): Position; ofRow(row: Values): Position },
): MaybePromise<Page<Item, Position> | null> {
  const page = new PageBuilder<Item, Position>(limit, position.ofItem)
  return andThen(read(page, after, limit + 1), (rows) => {
    if (rows === null) return null
    return page.isFull || rows.length <= limit ? page.page() : readOn(rows)
  })

  async function readOn(seen: readonly Values[]): Promise<Page<Item, Position> | null> {
    for (let last = seen.at(-1); last !== undefined && !page.isFull; ) {
      await nextTurn()
      const rows = await read(page, position.ofRow(last), longChunk)
      if (rows === null) return null
      last = rows.length === longChunk ? rows.at(-1) : undefined
    }
    return page.page()
  }
}

/**
 * Makes a page of `limit` items from `limit + 1` that were queried: the extra item shows that more follow.
 */
export function toPage<Item, Position>(
  found: readonly Item[],
  limit: number,
  toPosition: (item: Item) => Position,
): Page<Item, Position> {
  const rows = found.slice(0, limit)
  const last = rows.at(-1)
  return { rows, next: found.length > limit && last !== undefined ? toPosition(last) : null }
}

/** The range of rows of a page: conditions with a question mark for each value, and the order. */
interface SubjectRange {
  conditions: string
  values: (string | number)[]
  order: string
}

/**
 * A page as one range of one index. Each end has at most one condition, because SQLite seeks by one and
 * filters by the others. The position is always within the filters.
 */
export function subjectRange({ trackerId, since }: TrackerView, query: SubjectQuery): SubjectRange {
  const { after, lastSeenBefore, subjectIdPrefix } = query
  const lastSeenAfter = Math.max(since, query.lastSeenAfter ?? since)
  const conditions = ['tracker_id = ?']
  const values: (string | number)[] = [trackerId]
  const where = (condition: string, ...bound: (string | number)[]) => {
    conditions.push(condition)
    values.push(...bound)
  }
  let order = 'subject_id'
  if (query.sort === 'subjectId') {
    const end = subjectIdPrefix === null ? null : endOfPrefix(subjectIdPrefix)
    if (after) where('subject_id > ?', after.subjectId)
    else if (subjectIdPrefix !== null) where('subject_id >= ?', subjectIdPrefix)
    if (end !== null) where('subject_id < ?', end)
  } else if (query.sort === 'lastSeenAt') {
    order = 'last_seen_at, subject_id'
    if (after && after.lastSeenAt >= since) {
      where('(last_seen_at, subject_id) > (?, ?)', after.lastSeenAt, after.subjectId)
    } else where('last_seen_at >= ?', lastSeenAfter)
    if (lastSeenBefore !== null) where('last_seen_at < ?', lastSeenBefore)
  } else {
    order = 'last_seen_at DESC, subject_id DESC'
    if (after) where('(last_seen_at, subject_id) < (?, ?)', after.lastSeenAt, after.subjectId)
    else if (lastSeenBefore !== null) where('last_seen_at < ?', lastSeenBefore)
    where('last_seen_at >= ?', lastSeenAfter)
  }
  return { conditions: conditions.join(' AND '), values, order }
}

/**
 * The position of a found subject. Results by identifier are ordered by subject key, as the index is on every
 * engine; results by ID are ordered by tracker.
 */
export function foundPosition(
  sought: Sought,
  ids: (row: Values) => { trackerId: string; subjectId: string },
) {
  const toPosition = ({ trackerId, subjectId }: { trackerId: string; subjectId: string }): string =>
    'subjectId' in sought ? trackerId : Buffer.from(subjectKey(trackerId, subjectId)).toString('hex')
  return {
    ofItem: (found: FoundSubject) => toPosition(found),
    ofRow: (row: Values) => toPosition(ids(row)),
  }
}

/** Whether the data that contained the identifier is still visible. */
export function isStillBrought(broughtAt: unknown, since: Instant): boolean {
  return typeof broughtAt !== 'number' || broughtAt >= since
}

export function idsAt(trackerColumn: number): (row: Values) => { trackerId: string; subjectId: string } {
  return (row) => ({
    trackerId: asText(row[trackerColumn], 'tracker_id'),
    subjectId: asText(row[0], 'subject_id'),
  })
}
