import type { Budget, BudgetState, Limiter } from '../domain/budget.ts'
import type { Clock, Instant } from '../domain/instant.ts'

interface Window {
  count: number
  resetsAt: Instant
}

/**
 * Counts in this process's memory, in fixed windows that start with a holder's first request. All windows of a budget last equally
 * long, so a map in the order of insertion is in the order of expiry too: what has ended is dropped from its front. Beyond
 * `maxHolders` the window closest to its end goes early, which lets memory stay bounded whatever the number of addresses.
 */
export class MemoryLimiter implements Limiter {
  readonly #clock: Clock
  readonly #maxHolders: number
  readonly #windows = new Map<Budget['name'], Map<string, Window>>()

  constructor(clock: Clock, maxHolders = 200_000) {
    this.#clock = clock
    this.#maxHolders = maxHolders
  }

  take({ name, limit, windowMs }: Budget, holder: string): BudgetState {
    const now = this.#clock()
    const windows = this.#of(name)
    let window = windows.get(holder)
    // A clock set back would otherwise stretch a window beyond its length.
    if (!window || window.resetsAt <= now || window.resetsAt > now + windowMs) {
      windows.delete(holder)
      this.#makeRoom(windows, now)
      window = { count: 0, resetsAt: now + windowMs }
      windows.set(holder, window)
    }
    const granted = window.count < limit
    if (granted) window.count += 1
    const { count, resetsAt } = window
    return { granted, limit, remaining: limit - count, resetsAt, countedAt: now, isStandIn: false }
  }

  isReachable(): boolean {
    return true
  }

  async close(): Promise<void> {}

  #of(name: Budget['name']): Map<string, Window> {
    const known = this.#windows.get(name)
    if (known) return known
    const windows = new Map<string, Window>()
    this.#windows.set(name, windows)
    return windows
  }

  #makeRoom(windows: Map<string, Window>, now: Instant): void {
    for (const [holder, { resetsAt }] of windows) {
      if (resetsAt > now && windows.size < this.#maxHolders) break
      windows.delete(holder)
    }
  }
}
