import type { WaitBudget } from '../domain/budget.ts'

/** The interval of checks, and the most that one adds: a late tick means a busy machine, not a slow Redis. */
const tickMs = 5

interface Waiting {
  waitBudget: WaitBudget
  /** The time up to which the wait budget has been charged. */
  chargedAt: number
  giveUp(): void
}

/**
 * Bounds the wait for Redis by the caller's wait budget. Only time without any response is charged, so that a
 * burst is still counted exactly, and only while this process runs, so that Redis is not blamed for a busy
 * machine.
 */
export class Deadline {
  readonly #waiting = new Set<Waiting>()
  #answeredAt = 0
  #timer: NodeJS.Timeout | null = null

  /** Rejects with `NoAnswer` when the wait budget is spent. */
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
    // After a busy moment, responses that have arrived are read first, between the timer and `setImmediate`.
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

/** Redis, or whatever listens at its address, does not respond. */
export class NoAnswer extends Error {
  override name = 'NoAnswer'
}
