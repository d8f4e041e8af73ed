/** A row as an engine returns it, by column name. */
export type Row = Record<string, unknown>

/**
 * A row as an array of values, in the order of the columns. Engines create these in two thirds of the time.
 */
export type Values = readonly unknown[]

// Every engine enforces the column types of its schema; these functions tell TypeScript, and throw if the
// type is wrong.

export function asText(value: unknown, column: string): string {
  if (typeof value !== 'string') throw wrongType(column, 'text')
  return value
}

export function asInteger(value: unknown, column: string): number {
  if (typeof value !== 'number') throw wrongType(column, 'an integer')
  return value
}

export function asBlob(value: unknown, column: string): Uint8Array {
  if (!(value instanceof Uint8Array)) throw wrongType(column, 'bytes')
  return value
}

export function asJson<Value>(value: unknown, column: string): Value {
  try {
    return JSON.parse(asText(value, column))
  } catch {
    // Not the parser's own message, which quotes its input: that may be personal data.
    throw wrongType(column, 'JSON')
  }
}

export function text(row: Row, column: string): string {
  return asText(row[column], column)
}

export function integer(row: Row, column: string): number {
  return asInteger(row[column], column)
}

export function integerOrNull(row: Row, column: string): number | null {
  return row[column] === null ? null : integer(row, column)
}

export function textOrNull(row: Row, column: string): string | null {
  return row[column] === null ? null : text(row, column)
}

export function blob(row: Row, column: string): Uint8Array {
  return asBlob(row[column], column)
}

/** A key or a digest, which PostgreSQL stores as a uuid. */
export function bytes(row: Row, column: string): Uint8Array {
  const value = row[column]
  return typeof value === 'string' ? Buffer.from(value.replaceAll('-', ''), 'hex') : blob(row, column)
}

/** A key or a digest as PostgreSQL writes a uuid. */
export function keyText(key: Uint8Array): string {
  const hex = Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** Throws if a newer version has stored a name that is not among ours. */
export function known<Name extends string>(names: readonly Name[], value: unknown, what: string): Name {
  const name = names.find((each) => each === value)
  if (name !== undefined) return name
  throw new Error(`The store holds ${what} "${value}" that this version does not know.`)
}

function wrongType(column: string, expected: string): Error {
  return new Error(`The store holds something other than ${expected} in column ${column}.`)
}
