import { fdatasyncSync, fstatSync, openSync, readSync, statSync, writeSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { didBegin, didWithin, openWriter, touch } from './connection.ts'

/** About ten milliseconds of work, which is how long another write may have to wait. */
const pieceBytes = 4 * 2 ** 20
const chunkBytes = 2 ** 18
/** How long a piece tries to find the log empty before it lets others write. */
const timeoutMs = 20
/**
 * Overflow and free pages begin with a page number. Below this limit its first byte differs from that of
 * every b-tree page, so they cannot be confused.
 */
const maxPages = 2 ** 25

/**
 * Overwrites unused bytes with zeros, from page `first` up to `last`. Returns the next page; `null`, with
 * nothing done, if others hold the log. With the write lock and an empty log nobody else writes the file.
 */
export function scrubPages(path: string, handle: number, first: number, last: number): number | null {
  if (!isHandleOf(handle, path)) throw new Error(`${path} is no longer the file that was opened.`)
  // A new connection has no cached pages, and invalidates those of the writer's connection.
  const db = openWriter(path)
  try {
    if (!didWithin(db, timeoutMs, () => didBeginWithEmptyLog(db, path))) return null
    try {
      // Only bytes that SQLite never reads change, so the store is valid at any time.
      const next = zeroPages(handle, first, last)
      // Makes other connections reload their pages.
      db.exec(touch)
      db.exec('COMMIT')
      return next
    } finally {
      if (db.isTransaction) db.exec('ROLLBACK')
    }
  } finally {
    db.close()
    // Syncs now, when nobody waits for it; otherwise the next checkpoint would.
    fdatasyncSync(handle)
  }
}

function didBeginWithEmptyLog(db: DatabaseSync, path: string): boolean {
  if (db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.busy !== 0 || !didBegin(db)) return false
  if (statSync(`${path}-wal`).size === 0) return true
  // Another connection has written meanwhile.
  db.exec('ROLLBACK')
  return false
}

function zeroPages(handle: number, first: number, last: number): number {
  const pageSize = readPageSize(handle)
  const end = Math.min(last + 1, first + pieceBytes / pageSize)
  for (let next = first; next < end; ) {
    const chunk = Buffer.allocUnsafe(Math.min(end - next, chunkBytes / pageSize) * pageSize)
    const read = readAt(handle, chunk, (next - 1) * pageSize)
    const pages = Math.floor(read / pageSize)
    for (let i = 0; i < pages; i++)
      zeroPage(handle, chunk.subarray(i * pageSize, (i + 1) * pageSize), next + i)
    // The file may have become shorter since the scrub began.
    if (read < chunk.length) return last + 1
    next += pages
  }
  return end
}

const zeros = Buffer.alloc(65_536)

function zeroPage(handle: number, page: Buffer, number: number): void {
  for (const { start, end } of unusedBytes(page, number)) {
    const unused = page.subarray(start, end)
    const clean = zeros.subarray(0, unused.length)
    if (!unused.equals(clean)) writeAt(handle, clean, (number - 1) * page.length + start)
  }
}

/** Reads the page size from the file header. Throws for a file with an unexpected format. */
function readPageSize(handle: number): number {
  const header = Buffer.alloc(100)
  readAt(handle, header, 0)
  const size = header.readUInt16BE(16)
  const pageSize = size === 1 ? 65_536 : size
  const reserved = header.readUInt8(20)
  const largestRootWithAutoVacuum = header.readUInt32BE(52)
  const isOurs = header.toString('latin1', 0, 16) === 'SQLite format 3\0' && pageSize >= 512
  if (!isOurs || reserved !== 0 || largestRootWithAutoVacuum !== 0) {
    throw new DamagedPage('The store’s file is not as Lethe makes it; it was left as it is.')
  }
  if (header.readUInt32BE(28) >= maxPages) {
    throw new Error(`The store has ${maxPages} pages or more, and cannot be scrubbed: move it to PostgreSQL.`)
  }
  return pageSize
}

const handles = new Map<string, number>()

/**
 * A handle of the database file, beside SQLite's. There is one per file, and it is never closed: closing any
 * handle of a file releases all locks of this process on it, including SQLite's.
 */
export function rawHandle(path: string): number {
  const { dev, ino } = statSync(path)
  const file = `${dev}:${ino}`
  const handle = handles.get(file) ?? openSync(path, 'r+')
  handles.set(file, handle)
  return handle
}

/** Whether the path still leads to the file of the handle. */
function isHandleOf(handle: number, path: string): boolean {
  const [opened, named] = [fstatSync(handle), statSync(path)]
  return opened.dev === named.dev && opened.ino === named.ino
}

/** Fills `bytes` from the file; returns fewer bytes at the end of the file. */
function readAt(handle: number, bytes: Buffer, position: number): number {
  let count = 0
  while (count < bytes.length) {
    const read = readSync(handle, bytes, count, bytes.length - count, position + count)
    if (read === 0) break
    count += read
  }
  return count
}

export function writeAt(handle: number, bytes: Buffer, position: number): void {
  let count = 0
  while (count < bytes.length) {
    count += writeSync(handle, bytes, count, bytes.length - count, position + count)
  }
}

/** A range of bytes within a page, from `start` up to but not including `end`. */
interface ByteRange {
  start: number
  end: number
}

/** A page or file that is not as SQLite writes it. It is left unchanged. */
export class DamagedPage extends Error {
  override name = 'DamagedPage'
}

/** The header size of each kind of b-tree page: interior and leaf pages of indexes and tables. */
const headerSizes: Readonly<Record<number, number>> = { 2: 12, 5: 12, 10: 8, 13: 8 }
const fileHeaderSize = 100

/**
 * Finds the bytes of a page that belong to no row: between the cell pointers and the cells, and in free
 * blocks after their first four bytes. SQLite reads none of them. Pages other than b-tree pages have none,
 * because of `secure_delete`. See https://sqlite.org/fileformat2.html#b_tree_pages.
 */
export function unusedBytes(page: Buffer, number: number): ByteRange[] {
  const header = number === 1 ? fileHeaderSize : 0
  const headerSize = headerSizes[page.readUInt8(header)]
  if (headerSize === undefined) return []
  const cells = page.readUInt16BE(header + 3)
  const pointers = header + headerSize
  const gap = { start: pointers + 2 * cells, end: page.readUInt16BE(header + 5) || 65_536 }
  if (gap.start > gap.end || gap.end > page.length) throw damaged(number)
  const freeBlocks = freeBlocksFrom(page, number, page.readUInt16BE(header + 1), gap.end)
  for (let pointer = pointers; pointer < gap.start; pointer += 2) {
    const cell = page.readUInt16BE(pointer)
    const isFree = freeBlocks.some(({ start, end }) => cell >= start && cell < end)
    if (cell < gap.end || cell >= page.length || isFree) throw damaged(number)
  }
  return [gap, ...freeBlocks.map(({ start, end }) => ({ start: start + 4, end }))].filter(
    ({ start, end }) => start < end,
  )
}

/** The free blocks among the cells, in ascending order. */
function freeBlocksFrom(page: Buffer, number: number, first: number, contentStart: number): ByteRange[] {
  const blocks: ByteRange[] = []
  let after = contentStart
  for (let start = first; start !== 0; start = page.readUInt16BE(start)) {
    if (start < after || start + 4 > page.length) throw damaged(number)
    const end = start + page.readUInt16BE(start + 2)
    if (end < start + 4 || end > page.length) throw damaged(number)
    blocks.push({ start, end })
    after = end
  }
  return blocks
}

function damaged(number: number): DamagedPage {
  return new DamagedPage(`Page ${number} of the store is damaged; it was left as it is.`)
}
