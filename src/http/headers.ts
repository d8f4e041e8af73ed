import type { BudgetState } from '../domain/budget.ts'
import type { Instant } from '../domain/instant.ts'

/** Whatever carries headers: Fastify's reply, or an answer written by hand. */
interface HeaderCarrier {
  header(name: string, value: string | number): unknown
}

export function setCommonHeaders(reply: HeaderCarrier, requestId: string): void {
  reply.header('x-request-id', requestId)
  reply.header('cache-control', 'no-store')
  reply.header('x-content-type-options', 'nosniff')
}

/** Tells the client its budget, where one was spent. The reset is rounded up, so that whoever waits for it has waited long enough. */
export function setBudgetHeaders(reply: HeaderCarrier, budget: BudgetState | null): void {
  if (budget === null) return
  reply.header('x-ratelimit-limit', budget.limit)
  reply.header('x-ratelimit-remaining', budget.remaining)
  reply.header('x-ratelimit-reset', Math.ceil(budget.resetsAt / 1000))
}

export function setRetryAfter(reply: HeaderCarrier, budget: BudgetState, now: Instant): void {
  reply.header('Retry-After', Math.max(1, Math.ceil((budget.resetsAt - now) / 1000)))
}
