import type { Page } from '../../domain/page.ts'
import type { Row } from './row.ts'

/** Makes a page of `limit` out of rows of which one more than that was asked for: its presence tells that more follow. */
export function toPage<Item, Position>(
  found: readonly Row[],
  limit: number,
  toItem: (row: Row) => Item,
  toPosition: (item: Item) => Position,
): Page<Item, Position> {
  const rows = found.slice(0, limit).map(toItem)
  const last = rows.at(-1)
  return { rows, next: found.length > limit && last !== undefined ? toPosition(last) : null }
}
