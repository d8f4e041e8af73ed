import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Eventually, then } from '../domain/eventually.ts'
import type { Page } from '../domain/page.ts'
import type { Values } from './rows/row.ts'

/** Some rows of an index: what of them is still to be seen, and the last of them, seen or not; `null` when no more follow. */
export interface Stretch<Item> {
  items: Item[]
  last: Values | null
}

/** Makes a stretch of rows of which `count` were asked for. What `toItem` has nothing to show of is left out. */
export function toStretch<Item>(
  rows: readonly Values[],
  count: number,
  toItem: (row: Values) => Item | null,
): Stretch<Item> {
  const items = rows.map(toItem).filter((item) => item !== null)
  return { items, last: rows.length === count ? (rows.at(-1) ?? null) : null }
}

/** How many rows are looked at between two turns of the event loop. */
const longStretch = 1_000

/**
 * Reads a page of a list in which rows may have aged out that wait for the sweeper. Usually the first stretch fills it; behind a large
 * backlog it looks on, and lets other requests in between. `null` when a stretch is: the list is not there, or no longer.
 */
export function readPage<Item, Position>(
  { limit, after }: { limit: number; after: Position | null },
  read: (after: Position | null, count: number) => Eventually<Stretch<Item> | null>,
  position: { ofItem(item: Item): Position; ofRow(row: Values): Position },
): Eventually<Page<Item, Position> | null> {
  return then(read(after, limit + 1), (stretch) => {
    if (stretch === null) return null
    const { items, last } = stretch
    return items.length > limit || last === null ? toPage(items, limit, position.ofItem) : readOn(items, last)
  })

  async function readOn(found: Item[], from: Values): Promise<Page<Item, Position> | null> {
    for (let row: Values | null = from; row !== null && found.length <= limit; ) {
      await nextTurn()
      const stretch = await read(position.ofRow(row), longStretch)
      if (stretch === null) return null
      found.push(...stretch.items)
      row = stretch.last
    }
    return toPage(found, limit, position.ofItem)
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
