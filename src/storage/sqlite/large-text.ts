import type { SQLInputValue } from 'node:sqlite'
import type { Values } from '../nouns/row.ts'
import type { ValuesStatement } from './values-statement.ts'

/** So many bytes are read with their row: those of a whole page are about as many as it may hold. */
const maxBytesWithRow = 4096

/** A column of texts of any length, but null in place of a large one, whose length is known without reading it. */
export function unlessLarge(column: string): string {
  return `CASE WHEN octet_length(${column}) <= ${maxBytesWithRow} THEN ${column} END AS ${column}`
}

/** Whether the last value of every row is there. */
export function areWhole(rows: readonly Values[]): boolean {
  return rows.every((row) => row.at(-1) !== null)
}

/** The rows with the large texts that were left out as their last value, each read when it is asked for. To be used within a snapshot. */
export function* withLargeTexts(
  rows: readonly Values[],
  text: ValuesStatement,
  keyOf: (row: Values) => SQLInputValue[],
): Generator<Values> {
  for (const row of rows) {
    yield row.at(-1) === null ? [...row.slice(0, -1), ...(text.get(...keyOf(row)) ?? [])] : row
  }
}
