import type { SQLOutputValue } from 'node:sqlite'

/** Rows as a failing test shows them: one line each, bytes as hexadecimal digits. */
export function legible(rows: readonly Record<string, SQLOutputValue>[]): string[] {
  return rows.map((row) =>
    JSON.stringify(row, (_, value) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value,
    ),
  )
}
