/** A part of a list in its order. `next` is the position of the last row when more follow, else `null`. */
export interface Page<Row, Position> {
  rows: Row[]
  next: Position | null
}

/** About how many bytes a page holds at most, whatever its limit: it ends before the row that would not fit, but has one at least. */
export const maxPageBytes = 1024 * 1024
export const maxPageSize = 200
export const defaultPageSize = 50
