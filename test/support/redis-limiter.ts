import { randomUUID } from 'node:crypto'
import type { Limiter } from '../../src/domain/budget.ts'
import type { Clock } from '../../src/domain/instant.ts'
import { parseLimiterAddress } from '../../src/limiter/limiter-address.ts'
import { RedisLimiter } from '../../src/limiter/redis-limiter.ts'
import type { TimedLimiter } from '../limiter/contract.ts'
import { makeRedisClient } from './redis.ts'
import type { Lifetime } from './service.ts'

/** A limiter on Redis, closed when the test ends, and its reports: losses with reasons, and recoveries. */
export async function openRedisLimiter(lifetime: Lifetime, url: string, clock: Clock = Date.now) {
  const address = parseLimiterAddress(url)
  if (address?.engine !== 'redis') throw new Error('not the address of a Redis')
  const reports: string[] = []
  const limiter = await RedisLimiter.open(address, clock, {
    onLost: (reason) => reports.push(`lost: ${reason}`),
    onFound: () => reports.push('found'),
  })
  lifetime.after(() => limiter.close())
  return { limiter, reports }
}

/** Waits without a limit, so that a busy machine does not change the counts. */
export function withoutDeadline(limiter: Limiter): Pick<Limiter, 'take'> {
  const waitBudget = () => ({ waitMs: Number.POSITIVE_INFINITY })
  return {
    take: (budget, bucketKey) => limiter.take(budget, bucketKey, waitBudget()),
  }
}

/** Moves the start of a window back. Redis keeps the entry longer, so that the limiter ends it. */
const beginEarlier = `
local count, resetsAt = string.match(redis.call('GET', KEYS[1]), '^(%d+) (%d+)$')
redis.call('SET', KEYS[1], string.format('%s %.0f', count, resetsAt - ARGV[1]), 'PX', 60000)`

/**
 * A limiter on Redis with its own bucket keys, for tests that pass time. The clock of Redis cannot be moved,
 * so all windows move into the past, and the times they return are moved forward again.
 */
export async function timedRedisLimiter(lifetime: Lifetime, url: string): Promise<TimedLimiter> {
  let passedMs = 0
  const { limiter } = await openRedisLimiter(lifetime, url, () => Date.now() + passedMs)
  const client = await makeRedisClient({ url })
    .on('error', () => {})
    .connect()
  lifetime.after(() => client.destroy())
  const own = randomUUID()
  const keys = new Set<string>()
  return {
    limiter: {
      async take(budget, bucketKey) {
        keys.add(`lethe:${budget.name}:${own} ${bucketKey}`)
        const state = await withoutDeadline(limiter).take(budget, `${own} ${bucketKey}`)
        return { ...state, resetsAt: state.resetsAt + passedMs, countedAt: state.countedAt + passedMs }
      },
    },
    async pass(ms) {
      passedMs += ms
      for (const key of keys) await client.eval(beginEarlier, { keys: [key], arguments: [String(ms)] })
    },
  }
}
