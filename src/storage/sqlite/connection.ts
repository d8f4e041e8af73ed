import { closeSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** How long a write waits for another process, which may be upgrading a large store. */
const writeTimeoutMs = 600_000
/** How often it retries. */
const lookAgainMs = 1
/** How long anything else waits for another process. */
const busyTimeoutMs = 15_000

/** Opens the connection that writes. All settings that matter for durability and erasure are here. */
export function openWriter(path: string): DatabaseSync {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  createPrivately(path)
  const db = new DatabaseSync(path, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true })
  // Overwrites deleted data with zeros. Applies to this connection only, so every writer sets it.
  db.exec('PRAGMA secure_delete = ON')
  // SQLite does not wait if another process does this to the same new file.
  if (!didWithin(db, busyTimeoutMs, () => isDone(db, 'PRAGMA journal_mode = WAL'))) {
    throw new Error('Another process keeps the store locked.')
  }
  db.exec('PRAGMA synchronous = FULL')
  db.exec('PRAGMA cache_size = -8192')
  // Pages that consecutive batches change are then written back less often.
  db.exec('PRAGMA wal_autocheckpoint = 4000')
  return db
}

/**
 * Creates a missing file that only its owner can read: it holds personal data. SQLite gives the files beside
 * it the same mode. An existing file is not opened: closing it would release all locks of this process on it.
 */
export function createPrivately(path: string): void {
  try {
    closeSync(openSync(path, 'ax', 0o600))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}

/** Opens a connection that only looks at a file, which may be another program's. */
export function openInspector(path: string): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: busyTimeoutMs })
  db.exec('PRAGMA query_only = ON')
  return db
}

/** Opens the connection that requests read from: fast, synchronous, never waiting for a writer. */
export function openReader(path: string): DatabaseSync {
  const db = openInspector(path)
  db.exec('PRAGMA cache_size = -65536')
  // Pages that are not cached are then read without a copy, so that a large store reads as fast as a small
  // one.
  db.exec('PRAGMA mmap_size = 1073741824')
  return db
}

/** Runs `work` in a transaction that holds the write lock from its start; rolls it back if it throws. */
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

/**
 * Like `transaction`, for shared transactions. It continues in microtasks, so nothing else runs in between.
 */
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

/** Runs reads in one snapshot; within another snapshot, in that one. */
export function snapshot<Result>(db: DatabaseSync, work: () => Result): Result {
  if (db.isTransaction) return work()
  db.exec('BEGIN')
  try {
    return work()
  } finally {
    endReading(db)
  }
}

/**
 * Ends a read-only transaction. After a failed read SQLite has already ended it; an open one would show old
 * data forever.
 */
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
 * Retries `did`, which needs a lock, until it succeeds; `false` after `timeoutMs`. SQLite's own retries
 * become rarer and starve beside a process that writes continuously, and it does not wait for checkpoints.
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

/** Begins a transaction with the write lock; `false` if another connection holds it. */
export function didBegin(db: DatabaseSync): boolean {
  return isDone(db, 'BEGIN IMMEDIATE')
}

/** Runs a statement that needs a lock; `false` if another connection holds it. */
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

/** Whether a statement failed because another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  return failure(error) === busy
}

const diskFailures = new Set([/* READONLY */ 8, /* IOERR */ 10, /* FULL */ 13])

/** Whether a statement failed because the disk is full, broken or read-only. */
export function isDiskFailure(error: unknown): boolean {
  return diskFailures.has(failure(error))
}

/** The error code of SQLite; 0 for other errors. */
function failure(error: unknown): number {
  if (!(error instanceof Error && 'errcode' in error && typeof error.errcode === 'number')) return 0
  // The lowest byte is the primary code; the others give details.
  return error.errcode & 0xff
}

/** A write without a visible effect. SQLite would skip one that changes nothing at all. */
export const touch = 'UPDATE scrubs SET rowid = rowid % 2 + 1'

/** Runs `work` with another lock timeout. */
export function withBusyTimeout<Result>(db: DatabaseSync, timeoutMs: number, work: () => Result): Result {
  db.exec(`PRAGMA busy_timeout = ${timeoutMs}`)
  try {
    return work()
  } finally {
    db.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
  }
}

const never = new Int32Array(new SharedArrayBuffer(4))

/** Blocks this thread. */
export function pause(ms: number): void {
  Atomics.wait(never, 0, 0, ms)
}

/** Syncs a file, or the entries of a folder, to the disk. Windows requires write access for it. */
export function writeThrough(path: string): void {
  const isFolder = statSync(path).isDirectory()
  // Windows cannot open folders, and makes names durable by itself.
  if (isFolder && process.platform === 'win32') return
  const handle = openSync(path, isFolder ? 'r' : 'r+')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
