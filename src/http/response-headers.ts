import type { BudgetState, CountedBudget } from '../domain/budget.ts'
import type { HeaderList } from './request-context.ts'

/** A request, or data that is not a valid request. */
interface Answered {
  id: string
  budget: BudgetState | null
  counted: readonly CountedBudget[]
}

/** The headers of every response with a body. */
export function commonHeaders(answered: Answered): HeaderList {
  const headers = bodilessHeaders(answered)
  headers.push('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'")
  headers.push('Content-Type', 'application/json; charset=utf-8')
  return headers
}

/** The headers of every response: the request ID, how to treat it, and the state of its budgets if known. */
export function bodilessHeaders({ id, budget, counted }: Answered): HeaderList {
  const headers: HeaderList = [
    'X-Request-Id',
    id,
    'Cache-Control',
    'no-store',
    'X-Content-Type-Options',
    'nosniff',
  ]
  if (budget === null || budget.isStandIn) return headers
  headers.push('X-RateLimit-Limit', budget.limit, 'X-RateLimit-Remaining', budget.remaining)
  // Rounded up, so that clients wait long enough.
  headers.push('X-RateLimit-Reset', Math.ceil(budget.resetsAt / 1000))
  let policy = ''
  let limit = ''
  for (const { budget, state } of counted) {
    const separator = policy === '' ? '' : ', '
    policy += `${separator}"${budget.name}";q=${budget.limit};w=${Math.ceil(budget.windowMs / 1000)}`
    limit += `${separator}"${budget.name}";r=${state.remaining};t=${secondsLeft(state)}`
  }
  if (policy !== '') headers.push('RateLimit-Policy', policy, 'RateLimit', limit)
  return headers
}

/**
 * The headers of the Variables API, which pages of any origin may call. Its URLs contain a token, which must
 * not be sent on as a referrer.
 */
export const crossOriginHeaders: HeaderList = [
  ...['Access-Control-Allow-Origin', '*', 'Referrer-Policy', 'no-referrer'],
  'Access-Control-Expose-Headers',
  'ETag, X-Request-Id, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, RateLimit-Policy, RateLimit',
]

/** The common headers without those that the response sets itself. */
export function withoutRepeated(common: HeaderList, own: HeaderList): HeaderList {
  const isOwn = (name: string | number | undefined) => own.some((each, i) => i % 2 === 0 && each === name)
  return common.filter((_, i) => !isOwn(common[i - (i % 2)]))
}

/** The seconds until a budget resets, at least one, by the clock of the limiter, which may not be ours. */
export function secondsLeft({ resetsAt, countedAt }: BudgetState): number {
  return Math.max(1, Math.ceil((resetsAt - countedAt) / 1000))
}
