import type { BudgetState } from '../domain/budget.ts'
import type { Instant } from '../domain/instant.ts'

/** Whatever carries headers: Fastify's reply, or an answer written by hand. */
interface HeaderCarrier {
  header(name: string, value: string | number): unknown
}

export function setCommonHeaders(reply: HeaderCarrier, requestId: string): void {
  reply.header('X-Request-Id', requestId)
  reply.header('Cache-Control', 'no-store')
  reply.header('X-Content-Type-Options', 'nosniff')
}

/** Tells the client its budget, where one was spent. The reset is rounded up, so that whoever waits for it has waited long enough. */
export function setBudgetHeaders(reply: HeaderCarrier, budget: BudgetState | null): void {
  if (budget === null) return
  reply.header('X-RateLimit-Limit', budget.limit)
  reply.header('X-RateLimit-Remaining', budget.remaining)
  reply.header('X-RateLimit-Reset', Math.ceil(budget.resetsAt / 1000))
}

export function setRetryAfter(reply: HeaderCarrier, budget: BudgetState, now: Instant): void {
  reply.header('Retry-After', Math.max(1, Math.ceil((budget.resetsAt - now) / 1000)))
}
