import { setImmediate as nextTurn } from 'node:timers/promises'
import { andThen, type MaybePromise } from '../domain/maybe-promise.ts'
import { maxPageBytes, type Page } from '../domain/page.ts'
import type { Values } from './nouns/row.ts'

/** Up to here a text counts as if each character took three bytes, which costs nothing to find out. */
const shortText = 256
/** What a row takes in an answer beside its texts: the names of its fields, its instants, its counts. */
const bytesBesideTexts = 128

/** About how many bytes a row takes in an answer: never fewer than its texts have. */
function bytesOf(row: Values): number {
  let bytes = bytesBesideTexts
  for (const value of row) {
    if (typeof value !== 'string') continue
    bytes += value.length <= shortText ? 3 * value.length : Buffer.byteLength(value)
  }
  return bytes
}

/** A page in the making. It ends at `limit` items, or before the one with which it would hold more than `maxPageBytes`. */
export class PageBuilder<Item, Position> {
  readonly #limit: number
  readonly #toPosition: (item: Item) => Position
  readonly #items: Item[] = []
  #bytes = 0
  /** Whether an item came for which there was no room: more follow. */
  isFull = false

  constructor(limit: number, toPosition: (item: Item) => Position) {
    this.#limit = limit
    this.#toPosition = toPosition
  }

  /** Adds rows until one does not fit; the first always does. What `toItem` has nothing to show of is left out. */
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

/** How many rows are looked at between two turns of the event loop. */
const longChunk = 1_000

/**
 * Reads a page of a list in which rows may have aged out that wait for the sweeper. Usually the first chunk fills it; behind a large
 * backlog it looks on, and lets other requests in between. `read` adds what is to be seen of the next `count` rows to the page, and
 * hands all of them back; `null` when the list is not there, or no longer.
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

/** Makes a page of `limit` out of items of which one more than that was asked for: its presence tells that more follow. */
export function toPage<Item, Position>(
  found: readonly Item[],
  limit: number,
  toPosition: (item: Item) => Position,
): Page<Item, Position> {
  const rows = found.slice(0, limit)
  const last = rows.at(-1)
  return { rows, next: found.length > limit && last !== undefined ? toPosition(last) : null }
}
