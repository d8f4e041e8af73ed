import type { Budget } from './budget.ts'
import type { Runtime } from './runtime.ts'

const hourMs = 3_600_000

/** How long the windows of a budget can be: a second, a minute, an hour or a day. */
const windowLengthsMs = [1_000, 60_000, hourMs, 24 * hourMs]

/** Budgets of such windows are those for all requests. The one for erasures may hide behind them while it has more left. */
const shortWindowMs = 60_000

/** The documented budget for erasures, which holds unless whoever runs the service set another one. */
export const defaultErasuresPerHour = 60

interface Window {
  limit: number
  /** Less than nothing when answers were lost that would have said how much there is. */
  remaining: number
  resetsAt: number
}

/**
 * Lets erasures go as long as the budget that runs out first has something left, and then waits until it is full again, so that none is
 * ever refused. Each counts as spent when it goes, answered or not. While nobody says what is left, they go evenly, by what was seen or
 * is assumed.
 */
export class Pace {
  readonly #runtime: Runtime
  readonly #assumed: { limit: number; windowMs: number }
  /** How long the windows of each budget are, as far as was seen. An answer does not name its budget; its limit must do. */
  readonly #windowMs = new Map<number, number>()
  #window: Window | null = null
  #nextAt: number | null = null

  constructor(runtime: Runtime, erasuresPerHour: number) {
    if (!(erasuresPerHour > 0)) throw new TypeError('erasuresPerHour must be more than 0.')
    this.#runtime = runtime
    this.#assumed = { limit: erasuresPerHour, windowMs: hourMs }
  }

  /** When the next request may go; `null` when it may go immediately, as far as anybody knows. */
  get nextAt(): string | null {
    return this.#nextAt === null ? null : new Date(this.#nextAt).toISOString()
  }

  /** Takes up the pace of an earlier run. A time beyond the longest window is none of this clock's. */
  resume(nextAt: string): void {
    const at = Date.parse(nextAt)
    if (at < this.#runtime.now() + Math.max(...windowLengthsMs)) this.#nextAt = at
  }

  /** Waits until the next request may go. */
  async turn(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted()
    const { now, wait } = this.#runtime
    const nextAt = this.#nextAt ?? now()
    for (let at = now(); at < nextAt; at = now()) await wait(nextAt - at, signal)
    if (this.#window === null) return
    const { limit, remaining, resetsAt } = this.#window
    const isOver = resetsAt <= now()
    this.#plan({
      limit,
      remaining: (isOver ? limit : remaining) - 1,
      resetsAt: isOver ? now() + this.#lengthOf(limit) : resetsAt,
    })
  }

  /** Takes in what an answer said; `null` when it said nothing, as while the limiter is out of reach. */
  learn(budget: Budget | null): void {
    if (budget === null) {
      this.#window = null
      this.#nextAt = this.#runtime.now() + this.#intervalMs
      return
    }
    const { limit, remaining, resetsInMs } = budget
    this.#windowMs.set(limit, Math.max(shortestWindow(resetsInMs), this.#lengthOf(limit)))
    this.#plan({ limit, remaining, resetsAt: this.#runtime.now() + resetsInMs })
  }

  /** How long so many more requests will take, as far as anybody can tell, apart from the time that each needs. */
  estimateMs(count: number): number {
    if (count === 0) return 0
    const now = this.#runtime.now()
    const waitMs = Math.max(0, (this.#nextAt ?? now) - now)
    const { limit, windowMs } = this.#slowest
    if (this.#window === null && this.#nextAt !== null) return waitMs + (count - 1) * this.#intervalMs
    const left = this.#window ? Math.max(0, this.#window.remaining) : limit
    if (count <= left) return waitMs
    const resetsInMs = this.#window ? Math.max(0, this.#window.resetsAt - now) : windowMs
    return resetsInMs + Math.floor((count - left - 1) / limit) * windowMs
  }

  /** The budget for erasures: as it says once it has shown itself, as assumed before. */
  get #slowest(): { limit: number; windowMs: number } {
    const long = Array.from(this.#windowMs, ([limit, windowMs]) => ({ limit, windowMs }))
      .filter(({ windowMs }) => windowMs > shortWindowMs)
      .sort((a, b) => b.windowMs / b.limit - a.windowMs / a.limit)
    return long[0] ?? this.#assumed
  }

  /** How far apart erasures are while nobody says what is left. */
  get #intervalMs(): number {
    return Math.max(...[this.#slowest, this.#assumed].map(({ limit, windowMs }) => windowMs / limit))
  }

  #lengthOf(limit: number): number {
    return this.#windowMs.get(limit) ?? 0
  }

  #plan(window: Window): void {
    this.#window = window
    this.#nextAt = window.remaining > 0 ? null : window.resetsAt
  }
}

/** The shortest window that can still last so long. The service rounds its end up to a whole second. */
function shortestWindow(resetsInMs: number): number {
  return windowLengthsMs.find((lengthMs) => resetsInMs < lengthMs + 1_000) ?? resetsInMs
}
