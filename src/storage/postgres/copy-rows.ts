import { pipeline } from 'node:stream/promises'
import type { PoolClient } from 'pg'
import { from } from 'pg-copy-streams'

export type CopyValue = string | number | null

/** How many characters are handed to the connection at a time. */
const chunkLength = 65_536

/** Loads rows into a table in bulk, within the transaction that the connection is in. */
export async function copyRows(
  client: PoolClient,
  table: string,
  columns: readonly string[],
  rows: readonly (readonly CopyValue[])[],
): Promise<void> {
  if (rows.length === 0) return
  const copy = client.query(from(`COPY ${table} (${columns.join(', ')}) FROM STDIN`))
  await pipeline(chunks(rows), copy)
}

function* chunks(rows: readonly (readonly CopyValue[])[]): Generator<Buffer> {
  let chunk = ''
  for (const row of rows) {
    chunk += `${row.map(toField).join('\t')}\n`
    if (chunk.length < chunkLength) continue
    yield Buffer.from(chunk)
    chunk = ''
  }
  if (chunk !== '') yield Buffer.from(chunk)
}

const special = /[\\\n\r\t]/
const escapes: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** A value in PostgreSQL's text format for COPY. */
function toField(value: CopyValue): string {
  if (value === null) return '\\N'
  if (typeof value === 'number') return String(value)
  return special.test(value)
    ? value.replaceAll(/[\\\n\r\t]/g, (character) => escapes[character] ?? '')
    : value
}
