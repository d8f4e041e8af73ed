import { LetheError } from './errors.ts'
import type { Eventually } from './eventually.ts'
import type { Instant } from './instant.ts'

/** How many requests a holder (an address, a key) may make in a window that starts with its first one. */
export interface Budget {
  name: 'ip' | 'key' | 'erasure'
  limit: number
  windowMs: number
}

/** The state of a holder's budget after a request has asked for its share. */
export interface BudgetState {
  granted: boolean
  limit: number
  remaining: number
  resetsAt: Instant
}

export interface Limiter {
  /** Takes one request out of a holder's budget, or refuses and takes nothing. */
  take(budget: Budget, holder: string): Eventually<BudgetState>
  /** Whether it can be reached. While it cannot, each process counts for itself. */
  isReachable(): boolean
}

/** The budget a client should mind: the one with the fewest requests left, and of equals the one that resets last. */
export function tightest(a: BudgetState | null, b: BudgetState): BudgetState {
  if (a === null || b.remaining < a.remaining) return b
  return b.remaining === a.remaining && b.resetsAt > a.resetsAt ? b : a
}

/** What whoever has spent a budget is told. */
export function budgetSpent({ name }: Budget): LetheError {
  return new LetheError('rate_limited', `${spent[name]} Wait as many seconds as Retry-After says.`)
}

const spent: Record<Budget['name'], string> = {
  ip: 'This address has used up its requests.',
  key: 'This API key has used up its requests.',
  erasure: 'This API key has used up its erasures, which are best spread across the hour.',
}
