import type { Limiter } from '../domain/budget.ts'
import type { Clock } from '../domain/instant.ts'
import type { LimiterAddress } from './limiter-address.ts'
import { MemoryLimiter } from './memory-limiter.ts'
import type { LimiterReports } from './redis-limiter.ts'

/** Opens a limiter. One that cannot be reached opens too, and goes on looking. */
export async function openLimiter(
  address: LimiterAddress,
  clock: Clock,
  reports: LimiterReports,
): Promise<Limiter> {
  if (address.engine === 'memory') return new MemoryLimiter(clock)
  // Loading the client takes a tenth of a second, which those who count in memory need not wait.
  const { RedisLimiter } = await import('./redis-limiter.ts')
  return RedisLimiter.open(address, clock, reports)
}
