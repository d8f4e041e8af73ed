import { fdatasyncSync, statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { didBegin, didWithin, openWriter, touch } from './connection.ts'
import { isHandleOf, readAt, writeAt } from './raw-file.ts'
import { DamagedPage, unusedBytes } from './unused-bytes.ts'

/** Some ten milliseconds of work, which is what a write of somebody else waits for. */
const pieceBytes = 4 * 2 ** 20
const chunkBytes = 2 ** 18
/** How long a piece tries to find the log empty before it lets others write. */
const timeoutMs = 20
/**
 * Overflow and free pages begin with a page's number. Below this one its first byte is none that a b-tree's page begins with, so that
 * they cannot be mistaken for each other.
 */
const maxPages = 2 ** 25

/**
 * Overwrites with zeros what belongs to no row, in a piece of the file that begins at page `first` and ends with page `last` at the
 * latest. The page to go on with; `null`, with nothing done, when others hold the log.
 *
 * With the right to write and an empty log, nobody else writes the file. The row that is written makes every other connection read
 * its pages anew, so that none writes a page back as it was. Only bytes that SQLite never reads change: whenever this ends, the
 * store is whole.
 */
export function scrubPages(path: string, handle: number, first: number, last: number): number | null {
  if (!isHandleOf(handle, path)) throw new Error(`${path} is no longer the file that was opened.`)
  // A connection of its own has none of the old pages, and makes the one that writes otherwise forget its.
  const db = openWriter(path)
  try {
    if (!didWithin(db, timeoutMs, () => didBeginWithEmptyLog(db, path))) return null
    try {
      const next = zeroPages(handle, first, last)
      db.exec(touch)
      db.exec('COMMIT')
      return next
    } finally {
      if (db.isTransaction) db.exec('ROLLBACK')
    }
  } finally {
    db.close()
    // Here nobody waits for it; the next time the log is put back, everybody would.
    fdatasyncSync(handle)
  }
}

function didBeginWithEmptyLog(db: DatabaseSync, path: string): boolean {
  if (db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.busy !== 0 || !didBegin(db)) return false
  if (statSync(`${path}-wal`).size === 0) return true
  // Somebody has written in between.
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

/** Reads it from the file's header. Throws for a file that is not made as we make ours. */
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
