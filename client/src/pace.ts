import type { Budget } from './budget.ts'
import type { Surroundings } from './surroundings.ts'

const hourMs = 3_600_000

/** The documented budget for erasures, which holds unless whoever runs the service set another one. */
export const defaultErasuresPerHour = 60

interface PacedBudget {
  limit: number
  /** Less than nothing when answers were lost that would have said how much there is. */
  remaining: number
  resetsAt: number
  windowMs: number
}

/**
 * Spreads requests evenly over the window of the budget that runs out first, so that none is ever refused. Every request counts as
 * spent when it goes, whether or not an answer comes to say so.
 */
export class Pace {
  readonly #surroundings: Surroundings
  readonly #assumedIntervalMs: number
  #budget: PacedBudget | null = null
  #intervalMs: number | null = null
  #nextAt = 0

  constructor(surroundings: Surroundings, erasuresPerHour: number) {
    this.#surroundings = surroundings
    this.#assumedIntervalMs = hourMs / erasuresPerHour
  }

  /** Waits until the next request may go. */
  async turn(signal: AbortSignal | undefined): Promise<void> {
    const { now, wait } = this.#surroundings
    for (let at = now(); at < this.#nextAt; at = now()) await wait(this.#nextAt - at, signal)
    if (this.#budget === null) return
    const { limit, remaining, resetsAt, windowMs } = this.#budget
    const isNewWindow = resetsAt <= now()
    this.#plan({
      limit,
      windowMs,
      remaining: isNewWindow ? limit - 1 : remaining - 1,
      resetsAt: isNewWindow ? now() + windowMs : resetsAt,
    })
  }

  /** Takes in what an answer said; `null` when it said nothing, as while the limiter is out of reach. */
  learn(budget: Budget | null): void {
    const now = this.#surroundings.now()
    if (budget === null) {
      this.#budget = null
      this.#intervalMs = Math.max(this.#assumedIntervalMs, this.#intervalMs ?? 0)
      this.#nextAt = now + this.#intervalMs
      return
    }
    const windowMs = this.#windowOf(budget)
    this.#plan({ ...budget, resetsAt: now + budget.resetsInMs, windowMs })
    this.#intervalMs = windowMs / budget.limit
  }

  /** How long so many more requests will take, as far as anybody can tell. */
  estimateMs(count: number): number {
    if (count === 0) return 0
    const now = this.#surroundings.now()
    const firstMs = Math.max(0, this.#nextAt - now)
    if (this.#budget === null) return firstMs + (count - 1) * (this.#intervalMs ?? this.#assumedIntervalMs)
    const { limit, remaining, resetsAt, windowMs } = this.#budget
    const left = Math.max(0, remaining)
    const inWindowMs = Math.max(0, resetsAt - now)
    if (count <= left) return (inWindowMs * count) / (left + 1)
    return inWindowMs + ((count - left - 1) * windowMs) / limit
  }

  /** How long the windows of a budget are. Its first request tells; before that, what was seen or assumed must do. */
  #windowOf({ limit, remaining, resetsInMs }: Budget): number {
    if (remaining === limit - 1) return resetsInMs
    const known = this.#budget?.limit === limit ? this.#budget.windowMs : limit * this.#assumedIntervalMs
    return Math.max(resetsInMs, known)
  }

  #plan(budget: PacedBudget): void {
    const now = this.#surroundings.now()
    this.#budget = budget
    const left = Math.max(0, budget.remaining)
    this.#nextAt = now + Math.max(0, budget.resetsAt - now) / (left + 1)
  }
}
