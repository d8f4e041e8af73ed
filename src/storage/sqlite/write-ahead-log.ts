import type { DatabaseSync } from 'node:sqlite'

const retryAfterMs = 1_000

/**
 * Empties the write-ahead log, where deleted rows still stand in older copies of their pages. Waits for readers and writers of other
 * processes as long as the connection's busy time-out; when they hold it longer, goes on trying every second until it is done.
 */
export function logTruncation(db: DatabaseSync): () => void {
  const checkpoint = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)')
  let retry: NodeJS.Timeout | null = null
  return function truncate() {
    if (retry) clearTimeout(retry)
    retry = null
    const isBusy = checkpoint.get()?.busy !== 0
    if (isBusy) retry = setTimeout(truncate, retryAfterMs).unref()
  }
}
