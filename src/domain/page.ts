import { hash } from 'node:crypto'
import type { Problems } from './errors.ts'
import { isIdentifier } from './identifier.ts'

/** A part of a list in its order. `next` is the position of the last row when more follow, else `null`. */
export interface Page<Row, Position> {
  rows: Row[]
  next: Position | null
}

/** About how many bytes a page holds at most, whatever its limit: it ends before the row that would not fit, but has one at least. */
export const maxPageBytes = 1024 * 1024
export const maxPageSize = 200
export const defaultPageSize = 50

/** What a list is: its name, its owner, its sort, its filters. */
export type ListIdentity = readonly (string | number | null)[]

/** Where a page ended: the instant and the id of its last row. */
interface Position {
  at: number
  id: string
}

const digestLength = 12

/**
 * Writes a position in a list as the opaque text a client hands back for the next page. The digest binds it to
 * the list, its sort and its filters, so that a cursor is good for nothing else. It is no secret and grants nothing.
 */
export function encodeCursor(list: ListIdentity, at: number, id: string): string {
  const payload = Buffer.from(JSON.stringify([at, id])).toString('base64url')
  return digest(list, payload) + payload
}

/** The position in a cursor of this very list; `null` when it is damaged or comes from another list, sort or filter. */
export function decodeCursor(list: ListIdentity, cursor: string): Position | null {
  const position = readPayload(cursor)
  return cursor.slice(0, digestLength) === digest(list, cursor.slice(digestLength)) ? position : null
}

/**
 * The position a request asks to go on from: `null` for the first page. A cursor that is no good becomes a problem of its field. While
 * the request's sort or filters are themselves in doubt (`list` is `null`), only damage can be told.
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

/** The id that a cursor holds; `null` for a text that is none. */
export function idIn(cursor: string): string | null {
  return readPayload(cursor)?.id ?? null
}

/** The digest is no signature: whoever forges one may put anything behind it, even what no store can compare with. */
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
