import type { Budget, BudgetState, Limiter } from '../domain/budget.ts'
import type { Clock, Instant } from '../domain/instant.ts'
import type { SharedWindow } from './take-script.ts'

interface Window {
  count: number
  resetsAt: Instant
  /** The reset time by Redis's clock, which identifies its window; `null` for a window of this process. */
  sharedResetsAt: Instant | null
  /** Whether it contains grants that Redis did not count, so that Redis's decision is not sufficient. */
  isAheadOfRedis: boolean
}

/**
 * Counts in memory, in fixed windows that start with a bucket's first request; the oldest buckets are dropped
 * beyond `maxBucketKeys`. Next to a Redis, it also counts Redis's grants: after an outage, a bucket may have
 * several windows, and every grant counts in all of them.
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

  /** Refuses without asking Redis if a window with grants unknown to Redis is spent; otherwise `null`. */
  refusal(budget: Budget, bucketKey: string): BudgetState | null {
    const now = this.#clock()
    const running = this.#running(budget, bucketKey, now)
    return isSpent(budget, running) ? stateOf(budget, false, running, now) : null
  }

  /** Counts a grant of Redis, or refuses it as `refusal` does. */
  countShared(budget: Budget, bucketKey: string, shared: SharedWindow, askedAt: Instant): BudgetState {
    const now = this.#clock()
    const { resetsAt: sharedResetsAt, countedAt } = shared
    // Redis decides when its own windows end.
    const running = this.#running(budget, bucketKey, now).filter(
      (window) => window.sharedResetsAt === null || window.sharedResetsAt > countedAt,
    )
    for (const window of running) {
      window.isAheadOfRedis ||= window.sharedResetsAt !== sharedResetsAt || window.count >= shared.count
    }
    if (isSpent(budget, running)) return stateOf(budget, false, running, now)
    if (!running.some((window) => window.sharedResetsAt === sharedResetsAt)) {
      // Not later than by Redis's clock: a client that waited for the reset must be granted.
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
      // Usually there is one running window, and nothing is copied.
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

/** The second condition prevents a clock that was set back from extending a window. */
function isRunning({ resetsAt }: Window, windowMs: number, now: Instant): boolean {
  return resetsAt > now && resetsAt <= now + windowMs
}

function isSpent({ limit }: Budget, windows: readonly Window[]): boolean {
  return windows.some(({ count, isAheadOfRedis }) => isAheadOfRedis && count >= limit)
}

/** The state of the fullest window, or the one that resets last. */
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
