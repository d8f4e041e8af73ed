import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Registry } from 'prom-client'
import type { WaitBudget } from '../../src/domain/budget.ts'
import { MemoryLimiter } from '../../src/limiter/memory-limiter.ts'
import { limiterMetrics } from '../../src/metrics/metrics.ts'

it('the metrics pass the bucket key and the wait budget on to the limiter', async () => {
  const waitBudgets: (WaitBudget | undefined)[] = []
  const limiter = new MemoryLimiter(() => 0)
  const measured = limiterMetrics(new Registry(), {
    isReachable: () => true,
    take(budget, bucketKey, waitBudget) {
      waitBudgets.push(waitBudget)
      return limiter.take(budget, bucketKey)
    },
  })
  const waitBudget = { waitMs: 7 }
  const state = await measured.take({ name: 'ip', limit: 1, windowMs: 1_000 }, 'a', waitBudget)
  assert.equal(state.granted, true)
  assert.deepEqual(waitBudgets, [waitBudget])
})
