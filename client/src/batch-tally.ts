import type { Counts } from './api.ts'
import type { DoneEntry } from './journal.ts'

/** How far a batch has come, earlier runs included. */
export interface BatchProgress {
  /** How many data subjects the list names, each counted once. */
  total: number
  /** How many are done; the next three add up to it. */
  done: number
  /** How many held data, which is gone now. */
  erased: number
  /** How many held none: erased before, aged out, or never seen. */
  alreadyErased: number
  /** How many hold none now, while an answer was lost that may have told what was deleted. */
  unknown: number
  /** How many of the done ones a run before this one did. */
  resumed: number
  failed: number
  /** What was deleted, as far as it is known. */
  counts: Counts
  /** How long the rest will take, as far as anybody can tell. */
  leftMs: number
}

/** Counts what a batch does. */
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

  /** How many still need a request, those that failed aside. */
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
