import { setTimeout as delay } from 'node:timers/promises'
import { maxSnapshotMs } from '../subject-export.ts'

/** How much longer snapshots last once the log is wanted: most exports are over by then. */
const graceMs = 250
/** Long enough for another process, which tries every millisecond, to find the log free. */
const gapMs = 5
/** Longer than the pause between two tries to empty a log that another process holds for long. */
const longGapMs = 400

/**
 * The snapshots of all exports. They end together, so that there are moments without any, in which the log can be emptied: soon after
 * this process wants to empty it, and often enough for other processes.
 */
export class ExportSnapshots {
  readonly #open = new Set<() => void>()
  #timer: NodeJS.Timeout | undefined
  #endsAt = 0
  /** While there is one, no snapshot begins. */
  #gap: Promise<void> | null = null
  #endGap = () => {}
  #isLogWanted = false

  /** Calls `open` as soon as there may be a snapshot, and `end` when it has to end. What it resolves to ends it before. */
  async begin(open: () => void, end: () => void): Promise<() => void> {
    while (this.#gap !== null) await this.#gap
    open()
    if (this.#open.size === 0) this.#endAt(performance.now() + maxSnapshotMs)
    this.#open.add(end)
    return () => this.#end(end)
  }

  /** Told that the log is to be emptied and somebody reads in it, or that this is over. */
  noteLogWanted(isWanted: boolean): void {
    this.#isLogWanted = isWanted
    if (!isWanted) this.#endGap()
    else {
      this.#beginGap(graceMs + longGapMs)
      if (this.#open.size > 0) this.#endAt(Math.min(this.#endsAt, performance.now() + graceMs))
    }
  }

  #endAt(endsAt: number): void {
    this.#endsAt = endsAt
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#endAll(), endsAt - performance.now()).unref()
  }

  #endAll(): void {
    for (const end of this.#open) this.#end(end)
    this.#beginGap(this.#isLogWanted ? longGapMs : gapMs)
  }

  #end(end: () => void): void {
    if (!this.#open.delete(end)) return
    if (this.#open.size === 0) clearTimeout(this.#timer)
    end()
  }

  #beginGap(longestMs: number): void {
    if (this.#gap !== null) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#endGap = resolve
    this.#gap = Promise.race([promise, delay(longestMs, undefined, { ref: false })]).then(() => {
      this.#gap = null
    })
  }
}
