/** A row as an engine hands it over. */
export type Row = Record<string, unknown>

// Every engine keeps to the types its schema declares; these say so to TypeScript, and loudly fail where it is not so.

export function text(row: Row, column: string): string {
  const value = row[column]
  if (typeof value !== 'string') throw wrongType(column, 'text')
  return value
}

export function integer(row: Row, column: string): number {
  const value = row[column]
  if (typeof value !== 'number') throw wrongType(column, 'an integer')
  return value
}

export function integerOrNull(row: Row, column: string): number | null {
  return row[column] === null ? null : integer(row, column)
}

export function textOrNull(row: Row, column: string): string | null {
  return row[column] === null ? null : text(row, column)
}

export function blob(row: Row, column: string): Uint8Array {
  const value = row[column]
  if (!(value instanceof Uint8Array)) throw wrongType(column, 'bytes')
  return value
}

export function json<Value>(row: Row, column: string): Value {
  try {
    return JSON.parse(text(row, column))
  } catch {
    // Not the parser's own message: it quotes what it read, which may be personal data.
    throw wrongType(column, 'JSON')
  }
}

function wrongType(column: string, expected: string): Error {
  return new Error(`The store holds something other than ${expected} in column ${column}.`)
}
