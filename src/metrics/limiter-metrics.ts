import { Counter, Gauge, type Registry } from 'prom-client'
import type { Limiter } from '../domain/budget.ts'
import { andThen } from '../domain/maybe-promise.ts'

type Watched = Omit<Limiter, 'close'>

/** Measures a limiter. What it hands back does the same, and is counted. */
export function limiterMetrics(registry: Registry, limiter: Watched): Watched {
  const refusals = new Counter({
    name: 'lethe_budget_refusals_total',
    help: 'Requests that a budget refused, by the name of the budget.',
    labelNames: ['budget'],
    registers: [registry],
  })
  for (const budget of ['ip', 'key', 'erasure']) refusals.inc({ budget }, 0)
  new Gauge({
    name: 'lethe_limiter_reachable',
    help: 'Whether the limiter can be reached (1) or this process counts for itself (0).',
    registers: [registry],
    collect() {
      this.set(limiter.isReachable() ? 1 : 0)
    },
  })
  return {
    take: (budget, bucketKey, waitBudget) =>
      andThen(limiter.take(budget, bucketKey, waitBudget), (state) => {
        if (!state.granted) refusals.inc({ budget: budget.name })
        return state
      }),
    peek: (budget, bucketKey, waitBudget) => limiter.peek(budget, bucketKey, waitBudget),
    isReachable: () => limiter.isReachable(),
  }
}
