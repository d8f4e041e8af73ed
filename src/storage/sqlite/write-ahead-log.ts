import type { DatabaseSync } from 'node:sqlite'
import { didWithin } from './connection.ts'

const retryAfterMs = 1_000

/**
 * Empties the write-ahead log, where deleted rows still stand in older copies of their pages. Waits up to `timeoutMs` for others that
 * read, write or put the log back into the file; `false` when they hold it longer.
 */
export function truncateLog(db: DatabaseSync, timeoutMs: number): boolean {
  const truncate = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)')
  return didWithin(db, timeoutMs, () => truncate.get()?.busy === 0)
}

/** Empties the log now or, where others hold it longer than can be waited for, as soon as they let go: tries every second. */
export function logTruncation(db: DatabaseSync, timeoutMs = 5_000): () => void {
  let retry: NodeJS.Timeout | null = null
  return function truncate() {
    if (retry) clearTimeout(retry)
    retry = truncateLog(db, timeoutMs) ? null : setTimeout(truncate, retryAfterMs).unref()
  }
}
