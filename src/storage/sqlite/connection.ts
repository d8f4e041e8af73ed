import { closeSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** How long a write waits for another process's write, which may be an upgrade of a large store, before it gives up. */
const writeTimeoutMs = 600_000
/** How often it looks. */
const lookAgainMs = 1
/** How long anything else waits for another process. */
const busyTimeoutMs = 15_000

/** Opens the connection through which a thread writes. The only settings that matter to durability and erasure stand here. */
export function openWriter(path: string): DatabaseSync {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  createPrivately(path)
  const db = new DatabaseSync(path, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true })
  // Overwrites what is deleted with zeros; holds for this connection alone, so every writer sets it.
  db.exec('PRAGMA secure_delete = ON')
  // Where another process does this to the same new file, SQLite does not wait by itself.
  if (!didWithin(db, busyTimeoutMs, () => isDone(db, 'PRAGMA journal_mode = WAL'))) {
    throw new Error('Another process keeps the store locked.')
  }
  db.exec('PRAGMA synchronous = FULL')
  db.exec('PRAGMA cache_size = -8192')
  // Pages that one batch after the other changes are then written back once for several of them.
  db.exec('PRAGMA wal_autocheckpoint = 4000')
  return db
}

/**
 * Creates a file that is not there for its owner's eyes alone: personal data. SQLite gives the files it puts beside it the same mode.
 * One that is there is not touched: to close it would let go of every lock that this process has on it.
 */
export function createPrivately(path: string): void {
  try {
    closeSync(openSync(path, 'ax', 0o600))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}

/** Opens the connection through which requests read: quick, synchronous, never waiting for a writer. */
export function openReader(path: string): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: busyTimeoutMs })
  db.exec('PRAGMA query_only = ON')
  db.exec('PRAGMA cache_size = -65536')
  // A page that is not in the cache yet is then read without a copy, so that a large store reads like a small one.
  db.exec('PRAGMA mmap_size = 1073741824')
  return db
}

/** Runs `work` in a transaction that has the right to write from its start; rolled back when it throws. */
export function transaction<Result>(db: DatabaseSync, work: () => Result): Result {
  beginWriting(db)
  try {
    const result = work()
    db.exec('COMMIT')
    return result
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

/** Like `transaction`, for what is written for all engines. It goes on in microtasks, so that nothing else happens meanwhile. */
export async function asyncTransaction<Result>(
  db: DatabaseSync,
  work: () => Promise<Result>,
): Promise<Result> {
  beginWriting(db)
  try {
    const result = await work()
    db.exec('COMMIT')
    return result
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

/** Runs reads that belong together, so that they all see the store as it is at one moment; within another snapshot, at that one. */
export function snapshot<Result>(db: DatabaseSync, work: () => Result): Result {
  if (db.isTransaction) return work()
  db.exec('BEGIN')
  try {
    return work()
  } finally {
    endReading(db)
  }
}

/** Ends a transaction that only read. After a failed read SQLite has ended it already; one left open would show the past for ever. */
function endReading(db: DatabaseSync): void {
  try {
    if (db.isTransaction) db.exec('COMMIT')
  } finally {
    if (db.isTransaction) db.exec('ROLLBACK')
  }
}

function beginWriting(db: DatabaseSync): void {
  if (!didWithin(db, writeTimeoutMs, () => didBegin(db))) {
    throw new Error('Another process has been writing for ten minutes.')
  }
}

/**
 * Tries what needs locks that others may have until it did; `false` when that takes longer than `timeoutMs`. SQLite's own waiting
 * looks ever more seldom, so that it starves beside a process that writes batch after batch; and it does not wait for a checkpoint.
 */
export function didWithin(db: DatabaseSync, timeoutMs: number, did: () => boolean): boolean {
  const deadline = performance.now() + timeoutMs
  return withBusyTimeout(db, 0, () => {
    while (!did()) {
      if (performance.now() > deadline) return false
      pause(lookAgainMs)
    }
    return true
  })
}

/** Begins a transaction with the right to write; `false` where another connection has it. */
export function didBegin(db: DatabaseSync): boolean {
  return isDone(db, 'BEGIN IMMEDIATE')
}

/** Runs what needs a lock; `false` where another connection has that. */
function isDone(db: DatabaseSync, sql: string): boolean {
  try {
    db.exec(sql)
    return true
  } catch (error) {
    if (isBusy(error)) return false
    throw error
  }
}

const busy = 5

/** Whether a statement failed because another connection has the lock it needs. */
export function isBusy(error: unknown): boolean {
  return failure(error) === busy
}

const diskFailures = new Set([/* READONLY */ 8, /* IOERR */ 10, /* FULL */ 13])

/** Whether a statement failed because the disk is full, broken or may not be written to. */
export function isDiskFailure(error: unknown): boolean {
  return diskFailures.has(failure(error))
}

/** What SQLite failed with; 0 for what is not of SQLite. */
function failure(error: unknown): number {
  if (!(error instanceof Error && 'errcode' in error && typeof error.errcode === 'number')) return 0
  // The lowest byte says what it is; the others, more exactly where.
  return error.errcode & 0xff
}

/** A write that changes nothing anybody reads. One that changed nothing at all SQLite would leave out. */
export const touch = 'UPDATE scrubs SET rowid = rowid % 2 + 1'

/** Lets `work` wait this long, not longer, for locks of others. */
export function withBusyTimeout<Result>(db: DatabaseSync, timeoutMs: number, work: () => Result): Result {
  db.exec(`PRAGMA busy_timeout = ${timeoutMs}`)
  try {
    return work()
  } finally {
    db.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
  }
}

const never = new Int32Array(new SharedArrayBuffer(4))

/** Stops this thread for a while. */
export function pause(ms: number): void {
  Atomics.wait(never, 0, 0, ms)
}

/** Has the system write a file, or the entries of a folder, to the disk before we go on; Windows wants the right to write for it. */
export function writeThrough(path: string): void {
  const isFolder = statSync(path).isDirectory()
  // Windows opens no folders, and makes names durable by itself.
  if (isFolder && process.platform === 'win32') return
  const handle = openSync(path, isFolder ? 'r' : 'r+')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
