import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** How long a write waits for another process's write before it gives up. */
const busyTimeoutMs = 15_000

/** Opens the connection through which a thread writes. The only settings that matter to durability and erasure stand here. */
export function openWriter(path: string): DatabaseSync {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  // Personal data: for the owner's eyes. SQLite gives its other files the same mode.
  closeSync(openSync(path, 'a', 0o600))
  const db = new DatabaseSync(path, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true })
  // Overwrites what is deleted with zeros; holds for this connection alone, so every writer sets it.
  db.exec('PRAGMA secure_delete = ON')
  db.exec('PRAGMA journal_mode = WAL')
  db.exec('PRAGMA synchronous = FULL')
  db.exec('PRAGMA cache_size = -32768')
  return db
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
  db.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    db.exec('COMMIT')
    return result
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}
