import type { DatabaseSync } from 'node:sqlite'
import { withBusyTimeout } from './connection.ts'

/** How long a reply waits for others to release the log. */
const timeoutMs = 5_000
/** How often it is retried meanwhile. */
const oftenMs = 1
/** How often it is retried after that time. */
const seldomMs = 250

/**
 * Empties the write-ahead log, which contains deleted rows in older versions of their pages. Does not wait:
 * `false` if others are reading, writing or checkpointing.
 */
export function truncateLog(db: DatabaseSync): boolean {
  const truncate = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)')
  return withBusyTimeout(db, 0, () => truncate.get()?.busy === 0)
}

interface TruncationOptions {
  /**
   * Called with how long others have held the log beyond the timeout, and with `null` when it is empty again.
   */
  onHeld(heldMs: number | null): void
  /** Called when somebody reads a log that is to be emptied, and when it is empty. */
  onWanted?(isWanted: boolean): void
  timeoutMs?: number
}

/** With an error if the log could not be emptied. */
type Done = (error?: unknown) => void

/**
 * Empties the log after a deletion, or as soon as others release it. The thread is free between two attempts,
 * so that other writes do not wait.
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

  /** Calls `done` when the log is empty; immediately if others have held it too long already. */
  request(done: Done): void {
    this.#waiting.push(done)
    this.#try()
  }

  /** Empties the log soon; nobody waits for it. */
  schedule(): void {
    if (!this.#isOwed) this.#trySoon()
    this.#isOwed = true
  }

  /** Empties the log now or as soon as others release it; nobody waits for it. */
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

  /** A failure is left to the next start: a scrub is due as long as the log may contain deleted data. */
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
    // A process that writes continuously releases it only briefly.
    if (isTooLong || this.#waiting.length === 0) this.#trySoon()
    else this.#timer = setTimeout(() => this.#try(), oftenMs)
    if (isTooLong) this.#note(heldMs)
  }

  /** Answers everybody who waits. */
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
