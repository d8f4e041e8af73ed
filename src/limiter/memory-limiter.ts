import type { Budget, BudgetState, Limiter } from '../domain/budget.ts'
import type { Clock, Instant } from '../domain/instant.ts'
import type { SharedWindow } from './take-script.ts'

interface Window {
  count: number
  resetsAt: Instant
  /** When it resets by Redis's clock, which tells Redis's windows apart; `null` for one that this process began. */
  sharedResetsAt: Instant | null
  /** Whether it holds grants that Redis does not count, so that Redis's consent alone is not enough. */
  isAheadOfRedis: boolean
}

/**
 * Counts in this process's memory, in fixed windows that start with a bucket key's first request. All windows of a budget last at most
 * equally long, so a map in the order of insertion is about in the order of expiry too: what has ended is dropped from its front.
 * Beyond `maxBucketKeys` the oldest go early, which lets memory stay bounded whatever the number of addresses.
 *
 * Beside a Redis it counts what Redis grants as well. A bucket key can then have several windows that run: after Redis was away, or
 * has forgotten. Every grant counts in all of them, and none ever holds more than the limit.
 */
export class MemoryLimiter implements Limiter {
  readonly #clock: Clock
  readonly #maxBucketKeys: number
  readonly #buckets = new Map<Budget['name'], Map<string, Window[]>>()

  constructor(clock: Clock, maxBucketKeys = 200_000) {
    this.#clock = clock
    this.#maxBucketKeys = maxBucketKeys
  }

  take(budget: Budget, bucketKey: string): BudgetState {
    const now = this.#clock()
    let running = this.#running(budget, bucketKey, now)
    if (running.length === 0) {
      const resetsAt = now + budget.windowMs
      running = [{ count: 0, resetsAt, sharedResetsAt: null, isAheadOfRedis: true }]
      this.#begin(budget, bucketKey, running, now)
    }
    for (const { count } of running) if (count >= budget.limit) return stateOf(budget, false, running, now)
    for (const window of running) {
      window.count += 1
      window.isAheadOfRedis = true
    }
    return stateOf(budget, true, running, now)
  }

  peek(budget: Budget, bucketKey: string): BudgetState {
    const now = this.#clock()
    const running = this.#running(budget, bucketKey, now)
    return stateOf(
      budget,
      running.every(({ count }) => count < budget.limit),
      running,
      now,
    )
  }

  /** Why Redis need not be asked: a window that it knows too little of is spent. `null` when there is none. */
  refusal(budget: Budget, bucketKey: string): BudgetState | null {
    const now = this.#clock()
    const running = this.#running(budget, bucketKey, now)
    return isSpent(budget, running) ? stateOf(budget, false, running, now) : null
  }

  /** Counts what Redis, asked at `askedAt`, has granted; or refuses it all the same, for the same reason. */
  countShared(budget: Budget, bucketKey: string, shared: SharedWindow, askedAt: Instant): BudgetState {
    const now = this.#clock()
    const { resetsAt: sharedResetsAt, countedAt } = shared
    // Where Redis says that a window of its own is over, it is.
    const running = this.#running(budget, bucketKey, now).filter(
      (window) => window.sharedResetsAt === null || window.sharedResetsAt > countedAt,
    )
    for (const window of running) {
      window.isAheadOfRedis ||= window.sharedResetsAt !== sharedResetsAt || window.count >= shared.count
    }
    if (isSpent(budget, running)) return stateOf(budget, false, running, now)
    if (!running.some((window) => window.sharedResetsAt === sharedResetsAt)) {
      // Not later than by Redis's clock: whoever has waited for its reset must be let through.
      const resetsAt = askedAt + sharedResetsAt - countedAt
      running.push({ count: 0, resetsAt, sharedResetsAt, isAheadOfRedis: false })
      this.#begin(budget, bucketKey, running, now)
    }
    for (const window of running) window.count += 1
    return stateOf(budget, true, running, now)
  }

  isReachable(): boolean {
    return true
  }

  async close(): Promise<void> {}

  #running({ name, windowMs }: Budget, bucketKey: string, now: Instant): Window[] {
    const windows = this.#buckets.get(name)?.get(bucketKey) ?? []
    for (const window of windows) {
      // Nearly always there is one and it runs: then nothing is copied.
      if (!isRunning(window, windowMs, now)) return windows.filter((other) => isRunning(other, windowMs, now))
    }
    return windows
  }

  #begin({ name, windowMs }: Budget, bucketKey: string, windows: Window[], now: Instant): void {
    const buckets = this.#buckets.get(name) ?? new Map<string, Window[]>()
    this.#buckets.set(name, buckets)
    buckets.delete(bucketKey)
    for (const [oldest, others] of buckets) {
      const isNeeded = others.some((window) => isRunning(window, windowMs, now))
      if (isNeeded && buckets.size < this.#maxBucketKeys) break
      buckets.delete(oldest)
    }
    buckets.set(bucketKey, windows)
  }
}

/** A clock set back would otherwise stretch a window beyond its length. */
function isRunning({ resetsAt }: Window, windowMs: number, now: Instant): boolean {
  return resetsAt > now && resetsAt <= now + windowMs
}

function isSpent({ limit }: Budget, windows: readonly Window[]): boolean {
  return windows.some(({ count, isAheadOfRedis }) => isAheadOfRedis && count >= limit)
}

/** What the fullest window tells, and of equals the one that resets last. */
function stateOf(
  { limit }: Budget,
  granted: boolean,
  windows: readonly Window[],
  countedAt: Instant,
): BudgetState {
  let remaining = limit
  let resetsAt = countedAt
  for (const window of windows) {
    const left = Math.max(0, limit - window.count)
    if (left > remaining || (left === remaining && window.resetsAt <= resetsAt)) continue
    remaining = left
    resetsAt = window.resetsAt
  }
  return { granted, limit, remaining, resetsAt, countedAt, isStandIn: false }
}
