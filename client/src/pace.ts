import type { Budget } from './budget.ts'
import type { Runtime } from './runtime.ts'

const hourMs = 3_600_000
/** No budget has a longer window. */
const longestWindowMs = 24 * hourMs

/** The documented budget for erasures, which holds unless whoever runs the service set another one. */
export const defaultErasuresPerHour = 60

interface Window {
  limit: number
  windowMs: number
  /** Less than nothing when answers were lost that would have said how much there is. */
  remaining: number
  resetsAt: number
}

/**
 * Lets erasures go as long as every budget has something left, and then waits until it is full again, so that none is ever refused. Each
 * counts as spent when it goes, answered or not. While nobody says what is left, they go evenly, by what was seen or is assumed.
 */
export class Pace {
  readonly #runtime: Runtime
  readonly #assumed: { limit: number; windowMs: number }
  /** Those that were told of, by name. */
  readonly #windows = new Map<string, Window>()
  #isTold = false
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
    if (at < this.#runtime.now() + longestWindowMs) this.#nextAt = at
  }

  /** Waits until the next request may go. */
  async turn(signal: AbortSignal | undefined): Promise<void> {
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

  /** Takes in what an answer said; nothing, as while the limiter is out of reach, when it named no budget. */
  learn(budgets: readonly Budget[]): void {
    const now = this.#runtime.now()
    this.#isTold = budgets.length > 0
    for (const { name, limit, windowMs, remaining, resetsInMs } of budgets) {
      this.#windows.set(name, { limit, windowMs, remaining, resetsAt: now + resetsInMs })
    }
    if (this.#isTold) this.#plan()
    else this.#nextAt = now + this.#intervalMs
  }

  /** How long so many more requests will take, as far as anybody can tell, apart from the time that each needs. */
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

  /** How far apart erasures are while nobody says what is left. */
  get #intervalMs(): number {
    const known = [this.#assumed, ...this.#windows.values()]
    return Math.max(...known.map(({ limit, windowMs }) => windowMs / limit))
  }

  /** The next may go when every budget that is used up is full again. */
  #plan(): void {
    const usedUp = [...this.#windows.values()].filter(({ remaining }) => remaining <= 0)
    this.#nextAt = usedUp.length === 0 ? null : Math.max(...usedUp.map(({ resetsAt }) => resetsAt))
  }
}
