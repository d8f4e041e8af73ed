import { LetheError } from './errors.ts'
import type { Instant } from './instant.ts'
import type { MaybePromise } from './maybe-promise.ts'

/** The budgets of the API's requests. */
export type ApiBudgetName = 'ip' | 'key' | 'erasure'

/**
 * Those of the console: an address's requests and its attempts to sign in; the attempts on one account, of each address or browser that
 * the member knows; and those of all strangers together.
 */
export type ConsoleBudgetName = 'console' | 'sign-in' | 'account' | 'strangers'

/** A member's erasures at the console: as many as a key may make. */
export type MemberBudgetName = 'member-erasure'

/** How many requests a bucket key (of an address, of a key) may make in a window that starts with its first one. */
export interface Budget {
  name: ApiBudgetName | ConsoleBudgetName | MemberBudgetName
  limit: number
  windowMs: number
}

/** The budget of a member's erasures: as a key has, but counted by itself. */
export function memberErasureBudget({ limit, windowMs }: Pick<Budget, 'limit' | 'windowMs'>): Budget {
  return { name: 'member-erasure', limit, windowMs }
}

/** The state of a bucket after a request has asked for its share. */
export interface BudgetState {
  granted: boolean
  limit: number
  remaining: number
  resetsAt: Instant
  /** When it was counted, by the clock that `resetsAt` goes by. */
  countedAt: Instant
  /** Whether this process counted for itself, because the limiter it shares with others cannot be reached. */
  isStandIn: boolean
}

/** A budget in which a request was counted, and its state since. */
export interface CountedBudget {
  budget: Budget
  state: BudgetState
}

/** Whoever asks a limiter, and how much longer it waits for one that does not answer: over all it asks for, not each time anew. */
export interface WaitBudget {
  waitMs: number
}

/** The wait budget of a request: less than the 50 ms that are promised, since it is looked at every few milliseconds. */
export const requestWaitMs = 40

export interface Limiter {
  /** Takes one request out of a bucket, or refuses and takes nothing. Never fails, and never outlasts the wait budget. */
  take(budget: Budget, bucketKey: string, waitBudget?: WaitBudget): MaybePromise<BudgetState>
  /** The state of a bucket, with nothing taken: `granted` says whether a request would be. Fails and waits no more than `take`. */
  peek(budget: Budget, bucketKey: string, waitBudget?: WaitBudget): MaybePromise<BudgetState>
  /** Whether it can be reached. While it cannot, each process counts for itself. */
  isReachable(): boolean
  /** Lets go of what it holds. Nobody may ask it any more. */
  close(): Promise<void>
}

/**
 * The budget a client should mind: the one with the fewest requests left, and of equals the one that resets last. One that a
 * stand-in counted comes before all others, since then nobody can tell.
 */
export function tightest(a: BudgetState | null, b: BudgetState): BudgetState {
  if (a === null || (b.isStandIn && !a.isStandIn)) return b
  if (a.isStandIn && !b.isStandIn) return a
  if (b.remaining < a.remaining) return b
  return b.remaining === a.remaining && b.resetsAt > a.resetsAt ? b : a
}

/** What whoever has spent a budget is told. Until when, `tryAgainIn` says. */
export function budgetSpent({ name }: Budget): LetheError {
  return spent[name]
}

const spent: Record<Budget['name'], LetheError> = {
  ip: refusal('This address has used up its requests.'),
  key: refusal('This API key has used up its requests.'),
  erasure: refusal('This API key has used up its erasures, which are best spread across the hour.'),
  'member-erasure': refusal('You have used up your erasure budget.'),
  console: refusal('This address has used up its requests to the console.'),
  'sign-in': refusal('Too many attempts.'),
  account: refusal('Too many attempts.'),
  strangers: refusal('Too many attempts.'),
}

function refusal(what: string): LetheError {
  return new LetheError('rate_limited', what)
}

/** How long to wait, as people are told: to the second while they may watch the clock, and then to the minute, rounded up. */
export function tryAgainIn(seconds: number): string {
  const [count, unit] = seconds < 120 ? [seconds, 'second'] : [Math.ceil(seconds / 60), 'minute']
  return `Try again in ${count} ${unit}${count === 1 ? '' : 's'}.`
}
