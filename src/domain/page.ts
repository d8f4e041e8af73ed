/** A part of a list in its order. `next` is the position of the last row when more follow, else `null`. */
export interface Page<Row, Position> {
  rows: Row[]
  next: Position | null
}

export const maxPageSize = 200
export const defaultPageSize = 50
