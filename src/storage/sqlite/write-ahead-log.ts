import type { DatabaseSync } from 'node:sqlite'
import { withBusyTimeout } from './connection.ts'

/** How long an answer waits for others to let go of the log. */
const timeoutMs = 5_000
/** How often it is tried meanwhile. */
const oftenMs = 1
/** How often it is tried to empty a log that others have held that long. */
const seldomMs = 250

/**
 * Empties the write-ahead log, where deleted rows still stand in older copies of their pages. Waits for nobody: `false` when others
 * read, write or put the log back into the file just now.
 */
export function truncateLog(db: DatabaseSync): boolean {
  const truncate = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)')
  return withBusyTimeout(db, 0, () => truncate.get()?.busy === 0)
}

interface TruncationOptions {
  /** Told how long others have held the log once that is longer than can be waited for, and `null` when it is empty again. */
  onHeld(heldMs: number | null): void
  /** Told when somebody reads in a log that is to be emptied, and when it is empty. */
  onWanted?(isWanted: boolean): void
  timeoutMs?: number
}

/** With an error when the log could not be emptied at all. */
type Done = (error?: unknown) => void

/**
 * Empties the log for whoever has deleted something, or as soon as others let go of it. Between two tries the thread is free, so that
 * whatever else is to be written does not wait.
 */
export class LogTruncation {
  readonly #db: DatabaseSync
  readonly #options: TruncationOptions
  #waiting: Done[] = []
  #heldSince: number | null = null
  #isToldHeld = false
  /** Whether something was deleted since the log was empty. */
  #isOwed = false
  #timer: NodeJS.Timeout | undefined

  constructor(db: DatabaseSync, options: TruncationOptions) {
    this.#db = db
    this.#options = options
  }

  /** Calls `done` when the log is empty; when others have held it too long already, immediately. */
  request(done: Done): void {
    this.#waiting.push(done)
    this.#try()
  }

  /** Empties the log before long; nobody waits for it. */
  schedule(): void {
    if (!this.#isOwed) this.#trySoon()
    this.#isOwed = true
  }

  /** Empties the log now, or as soon as others let go of it; nobody waits for it. */
  resume(): void {
    this.#try()
  }

  /** Calls `done` when nobody waits any more. Nothing is tried after that. */
  end(done: () => void): void {
    const stop = () => {
      clearTimeout(this.#timer)
      if (this.#isOwed) this.#tryLast()
      done()
    }
    if (this.#waiting.length === 0) stop()
    else this.#waiting.push(stop)
  }

  #try(): void {
    clearTimeout(this.#timer)
    this.#isOwed = true
    try {
      if (truncateLog(this.#db)) this.#note(null)
      else this.#tryAgain(performance.now())
    } catch (error) {
      this.#trySoon()
      this.#answer(error)
    }
  }

  #trySoon(): void {
    this.#timer = setTimeout(() => this.#try(), seldomMs).unref()
  }

  /** What it does not manage is left to the next start: a scrub is due as long as something may be in the log. */
  #tryLast(): void {
    try {
      truncateLog(this.#db)
    } catch {}
  }

  #tryAgain(now: number): void {
    if (this.#heldSince === null) this.#options.onWanted?.(true)
    this.#heldSince ??= now
    const heldMs = now - this.#heldSince
    const isTooLong = heldMs >= (this.#options.timeoutMs ?? timeoutMs)
    // Whoever writes batch after batch lets go of it for no more than a moment.
    if (isTooLong || this.#waiting.length === 0) this.#trySoon()
    else this.#timer = setTimeout(() => this.#try(), oftenMs)
    if (isTooLong) this.#note(heldMs)
  }

  /** Nobody has to wait any longer. */
  #note(heldMs: number | null): void {
    this.#isOwed = heldMs !== null
    if (heldMs === null && this.#heldSince !== null) {
      this.#heldSince = null
      this.#options.onWanted?.(false)
    }
    if (this.#isToldHeld !== (heldMs !== null)) this.#options.onHeld(heldMs)
    this.#isToldHeld = heldMs !== null
    this.#answer()
  }

  #answer(error?: unknown): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const done of waiting) done(error)
  }
}
