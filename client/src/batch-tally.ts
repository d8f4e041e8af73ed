import type { Counts } from './api.ts'
import type { DoneEntry } from './journal.ts'

/** The progress of a batch, including earlier runs. */
export interface BatchProgress {
  /** The number of distinct data subjects in the list. */
  total: number
  /** The number that are done: the sum of the next three. */
  done: number
  /** The number that had data, which is now deleted. */
  erased: number
  /** The number that had no data: already erased, expired, or never seen. */
  alreadyErased: number
  /** The number that have no data now, but a response was lost, so it is unknown what was deleted. */
  unknown: number
  /** The number that earlier runs did. */
  resumed: number
  failed: number
  /** What was deleted, as far as known. */
  counts: Counts
  /** An estimate of the remaining time. */
  leftMs: number
}

/** Counts the results of a batch. */
export class BatchTally {
  readonly #total: number
  #erased = 0
  #alreadyErased = 0
  #unknown = 0
  #resumed = 0
  #failed = 0
  readonly #counts: Counts = { sessions: 0, events: 0 }

  constructor(total: number, earlier: Iterable<DoneEntry>) {
    this.#total = total
    for (const entry of earlier) {
      this.add(entry)
      this.#resumed += 1
    }
  }

  add({ alreadyErased, countsKnown, sessions, events }: DoneEntry): void {
    if (!alreadyErased) this.#erased += 1
    else if (countsKnown) this.#alreadyErased += 1
    else this.#unknown += 1
    this.#counts.sessions += sessions
    this.#counts.events += events
  }

  addFailure(): void {
    this.#failed += 1
  }

  /** The number that still need a request, without those that failed. */
  get left(): number {
    return this.#total - this.#done - this.#failed
  }

  get #done(): number {
    return this.#erased + this.#alreadyErased + this.#unknown
  }

  progress(leftMs: number): BatchProgress {
    return {
      total: this.#total,
      done: this.#done,
      erased: this.#erased,
      alreadyErased: this.#alreadyErased,
      unknown: this.#unknown,
      resumed: this.#resumed,
      failed: this.#failed,
      counts: { ...this.#counts },
      leftMs,
    }
  }
}
