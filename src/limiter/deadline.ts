import type { WaitBudget } from '../domain/budget.ts'

/** How often it is looked, and the most that counts each time: what a tick comes later was held up by a busy machine, not by Redis. */
const tickMs = 5

interface Waiting {
  waitBudget: WaitBudget
  /** Until when its wait budget has been charged. */
  chargedAt: number
  giveUp(): void
}

/**
 * Waits for answers, but not for longer than the wait budget of whoever asks. Only silence is charged to it: time in which nobody was answered. So
 * a burst that keeps Redis busy for a while is still counted exactly. And only while this process runs: a machine whose cores are all
 * busy keeps both from running, and Redis is not blamed for it.
 */
export class Deadline {
  readonly #waiting = new Set<Waiting>()
  #answeredAt = 0
  #timer: NodeJS.Timeout | null = null

  /** Like `answer`, or rejects with `NoAnswer`. */
  wait<Answer>(answer: Promise<Answer>, waitBudget: WaitBudget): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const waiting = { waitBudget, chargedAt: performance.now(), giveUp: () => reject(new NoAnswer()) }
    this.#waiting.add(waiting)
    if (!this.#timer) this.#startTick()
    answer.then(
      (value) => {
        const now = performance.now()
        this.#charge(waiting, now)
        this.#answeredAt = now
        this.#waiting.delete(waiting)
        resolve(value)
      },
      (error) => {
        this.#waiting.delete(waiting)
        reject(error)
      },
    )
    return promise
  }

  #startTick(): void {
    // After a busy moment, answers that are here already are read first: between a timer and `setImmediate`.
    this.#timer = setTimeout(() => setImmediate(() => this.#tick()), tickMs)
  }

  #tick(): void {
    const now = performance.now()
    for (const waiting of this.#waiting) {
      this.#charge(waiting, now)
      if (waiting.waitBudget.waitMs > 0) continue
      this.#waiting.delete(waiting)
      waiting.giveUp()
    }
    this.#timer = null
    if (this.#waiting.size > 0) this.#startTick()
  }

  #charge(waiting: Waiting, now: number): void {
    const silentMs = now - Math.max(waiting.chargedAt, this.#answeredAt)
    waiting.waitBudget.waitMs -= Math.min(silentMs, tickMs)
    waiting.chargedAt = now
  }
}

/** Redis is there, or somebody in its place, and says nothing. */
export class NoAnswer extends Error {
  override name = 'NoAnswer'
}
