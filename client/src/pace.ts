import type { Budget } from './budget.ts'
import type { Runtime } from './runtime.ts'

const hourMs = 3_600_000
/** No budget has a longer window. */
const longestWindowMs = 24 * hourMs

/** The service's default budget for erasures. */
export const defaultErasuresPerHour = 60

interface Window {
  limit: number
  windowMs: number
  /** Negative if responses with the current state were lost. */
  remaining: number
  resetsAt: number
}

/**
 * Paces erasures so that none is refused: while every budget has requests left, they are sent immediately,
 * then it waits for the reset. While the service reports no budget, they are spread evenly over the last
 * known or assumed one.
 */
export class Pace {
  readonly #runtime: Runtime
  readonly #assumed: { limit: number; windowMs: number }
  /** The reported budgets, by name. */
  readonly #windows = new Map<string, Window>()
  #isTold = false
  #nextAt: number | null = null

  constructor(runtime: Runtime, erasuresPerHour: number) {
    if (!(erasuresPerHour > 0)) throw new TypeError('erasuresPerHour must be more than 0.')
    this.#runtime = runtime
    this.#assumed = { limit: erasuresPerHour, windowMs: hourMs }
  }

  /** When the next request may be sent; `null` for immediately. */
  get nextAt(): string | null {
    return this.#nextAt === null ? null : new Date(this.#nextAt).toISOString()
  }

  /**
   * Continues the pace of an earlier run. A time beyond the longest window is from a wrong clock and ignored.
   */
  resume(nextAt: string): void {
    const at = Date.parse(nextAt)
    if (at < this.#runtime.now() + longestWindowMs) this.#nextAt = at
  }

  /** Waits until the next request may be sent. */
  async waitForBudget(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted()
    const { now, wait } = this.#runtime
    const nextAt = this.#nextAt ?? now()
    for (let at = now(); at < nextAt; at = now()) await wait(nextAt - at, signal)
    if (!this.#isTold) return
    for (const window of this.#windows.values()) {
      if (window.resetsAt <= now()) {
        window.remaining = window.limit
        window.resetsAt = now() + window.windowMs
      }
      window.remaining -= 1
    }
    this.#plan()
  }

  /** Updates the budgets from a response. There are none while the service cannot reach its limiter. */
  learn(budgets: readonly Budget[]): void {
    const now = this.#runtime.now()
    this.#isTold = budgets.length > 0
    for (const { name, limit, windowMs, remaining, resetsInMs } of budgets) {
      this.#windows.set(name, { limit, windowMs, remaining, resetsAt: now + resetsInMs })
    }
    if (this.#isTold) this.#plan()
    else this.#nextAt = now + this.#intervalMs
  }

  /** An estimate of the waiting time for this many requests, without the time of the requests themselves. */
  estimateMs(count: number): number {
    if (count === 0) return 0
    const now = this.#runtime.now()
    const waitMs = Math.max(0, (this.#nextAt ?? now) - now)
    if (!this.#isTold && this.#nextAt !== null) return waitMs + (count - 1) * this.#intervalMs
    const assumed = {
      ...this.#assumed,
      remaining: this.#assumed.limit,
      resetsAt: now + this.#assumed.windowMs,
    }
    const windows = this.#isTold ? [...this.#windows.values()] : [assumed]
    const lengths = windows.map(({ limit, windowMs, remaining, resetsAt }) => {
      const left = Math.max(0, remaining)
      if (count <= left) return 0
      return Math.max(0, resetsAt - now) + Math.floor((count - left - 1) / limit) * windowMs
    })
    return Math.max(waitMs, ...lengths)
  }

  /** The interval between erasures while the service reports no budget. */
  get #intervalMs(): number {
    const known = [this.#assumed, ...this.#windows.values()]
    return Math.max(...known.map(({ limit, windowMs }) => windowMs / limit))
  }

  /** The next request is due when all exhausted budgets have been reset. */
  #plan(): void {
    const usedUp = [...this.#windows.values()].filter(({ remaining }) => remaining <= 0)
    this.#nextAt = usedUp.length === 0 ? null : Math.max(...usedUp.map(({ resetsAt }) => resetsAt))
  }
}
