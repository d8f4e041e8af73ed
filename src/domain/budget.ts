import { LetheError } from './errors.ts'
import type { Instant } from './instant.ts'
import type { MaybePromise } from './maybe-promise.ts'

export type ApiBudgetName = 'ip' | 'key' | 'erasure' | 'variables'

/**
 * `account` counts attempts to sign in to one account from each known address or browser; `strangers` counts
 * those from all unknown ones together.
 */
export type ConsoleBudgetName = 'console' | 'sign-in' | 'challenge' | 'account' | 'strangers'

/** How many requests a bucket (an address, a key) may make in a window that starts with its first request. */
export interface Budget {
  name: ApiBudgetName | ConsoleBudgetName
  limit: number
  windowMs: number
}

/** The state of a bucket after a request was counted or refused. */
export interface BudgetState {
  granted: boolean
  limit: number
  remaining: number
  resetsAt: Instant
  /** When the request was counted, by the same clock as `resetsAt`. */
  countedAt: Instant
  /** Whether this process counted for itself because the shared limiter is unreachable. */
  isStandIn: boolean
}

/** A budget that a request was counted against, and its state afterwards. */
export interface CountedBudget {
  budget: Budget
  state: BudgetState
}

/** How much longer a request waits for a limiter that does not respond, over all of its calls. */
export interface WaitBudget {
  waitMs: number
}

/** Below the promised 50 ms, because deadlines are checked only every few milliseconds. */
export const requestWaitMs = 40

export interface Limiter {
  /** Takes one request from a bucket, or refuses and takes nothing. Never rejects; obeys the wait budget. */
  take(budget: Budget, bucketKey: string, waitBudget?: WaitBudget): MaybePromise<BudgetState>
  /** While the limiter is unreachable, each process counts for itself. */
  isReachable(): boolean
  close(): Promise<void>
}

/**
 * The budget to show to the client: the fewest requests remaining, then the latest reset. A budget counted by
 * a stand-in takes precedence, because its actual state is unknown.
 */
export function tightest(a: BudgetState | null, b: BudgetState): BudgetState {
  if (a === null || (b.isStandIn && !a.isStandIn)) return b
  if (a.isStandIn && !b.isStandIn) return a
  if (b.remaining < a.remaining) return b
  return b.remaining === a.remaining && b.resetsAt > a.resetsAt ? b : a
}

export function budgetSpent({ name }: Budget): LetheError {
  return spent[name]
}

const spent: Record<Budget['name'], LetheError> = {
  ip: refusal('This address has used up its requests.'),
  key: refusal('This API key has used up its requests.'),
  erasure: refusal('This API key has used up its erasures, which are best spread across the hour.'),
  variables: refusal('This variable token has used up its requests.'),
  console: refusal('This address has used up its requests to the console.'),
  'sign-in': refusal('Too many attempts.'),
  challenge: refusal('Too many attempts.'),
  account: refusal('Too many attempts.'),
  strangers: refusal('Too many attempts.'),
}

function refusal(what: string): LetheError {
  return new LetheError('rate_limited', what)
}

/** Rounds up to minutes from two minutes on. */
export function tryAgainIn(seconds: number): string {
  const [count, unit] = seconds < 120 ? [seconds, 'second'] : [Math.ceil(seconds / 60), 'minute']
  return `Try again in ${count} ${unit}${count === 1 ? '' : 's'}.`
}
