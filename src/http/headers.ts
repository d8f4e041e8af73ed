import type { BudgetState } from '../domain/budget.ts'

/** Names and values in turn, as Node writes them fastest. */
export type HeaderList = (string | number)[]

/** What every answer carries: its request's id, its type, and the budget its client should mind, where one was spent and is known. */
export function commonHeaders(requestId: string, budget: BudgetState | null): HeaderList {
  const headers: HeaderList = [
    'X-Request-Id',
    requestId,
    'Cache-Control',
    'no-store',
    'X-Content-Type-Options',
    'nosniff',
    'Content-Type',
    'application/json; charset=utf-8',
  ]
  if (budget === null || budget.isStandIn) return headers
  headers.push('X-RateLimit-Limit', budget.limit, 'X-RateLimit-Remaining', budget.remaining)
  // Rounded up, so that whoever waits for it has waited long enough.
  headers.push('X-RateLimit-Reset', Math.ceil(budget.resetsAt / 1000))
  return headers
}

/** The whole seconds after which a budget is full again, at least one. By the clock that counts it, which may not be ours. */
export function retryAfter({ resetsAt, countedAt }: BudgetState): number {
  return Math.max(1, Math.ceil((resetsAt - countedAt) / 1000))
}
