import { hash } from 'node:crypto'
import type { Problems } from './errors.ts'
import { isIdentifier } from './identifier.ts'

/** `next` is the position of the last row if there are more rows, otherwise `null`. */
export interface Page<Row, Position> {
  rows: Row[]
  next: Position | null
}

/** The approximate size of a page, regardless of its limit. A page has at least one row. */
export const maxPageBytes = 1024 * 1024
export const maxPageSize = 200
export const defaultPageSize = 50

/** How many rows fit on a page, by their size; at least one. */
export function howManyFit<Row>(rows: readonly Row[], bytesOf: (row: Row) => number): number {
  let bytes = 0
  const tooMany = rows.findIndex((row, i) => {
    bytes += bytesOf(row)
    return bytes > maxPageBytes && i > 0
  })
  return tooMany === -1 ? rows.length : tooMany
}

/** The name, owner, sort and filters of a list. */
export type ListIdentity = readonly (string | number | null)[]

/** The instant and ID of the last row of a page. */
interface Position {
  at: number
  id: string
}

const digestLength = 12

/** Encodes a position. The digest binds it to the list, sort and filters; it is not a secret. */
export function encodeCursor(list: ListIdentity, at: number, id: string): string {
  const payload = Buffer.from(JSON.stringify([at, id])).toString('base64url')
  return digest(list, payload) + payload
}

/** `null` if the cursor is damaged or belongs to another list, sort or filter. */
export function decodeCursor(list: ListIdentity, cursor: string): Position | null {
  const position = readPayload(cursor)
  return cursor.slice(0, digestLength) === digest(list, cursor.slice(digestLength)) ? position : null
}

/**
 * The position to continue from; `null` for the first page, or if the cursor is invalid, in which case a
 * problem is added. If the sort or filters are invalid (`list` is `null`), checks only for damage.
 */
export function readCursor(
  list: ListIdentity | null,
  cursor: string | undefined,
  problems: Problems,
): Position | null {
  if (cursor === undefined) return null
  const position = list ? decodeCursor(list, cursor) : readPayload(cursor)
  if (position === null) {
    problems.add(
      'cursor',
      'cursor must be the nextCursor of the page before, of the same list, sort and filters',
    )
  }
  return position
}

/** `null` if the cursor is damaged. */
export function idOfCursor(cursor: string): string | null {
  return readPayload(cursor)?.id ?? null
}

/** The digest is not a signature, so a forged cursor can contain anything. */
function readPayload(cursor: string): Position | null {
  const payload = parseJson(Buffer.from(cursor.slice(digestLength), 'base64url').toString())
  if (!Array.isArray(payload) || payload.length !== 2) return null
  const [at, id]: unknown[] = payload
  if (typeof at !== 'number' || !Number.isSafeInteger(at) || !isIdentifier(id)) return null
  return { at, id }
}

function digest(list: ListIdentity, payload: string): string {
  return hash('sha256', JSON.stringify([list, payload]), 'base64url').slice(0, digestLength)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
