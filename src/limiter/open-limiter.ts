import type { Limiter } from '../domain/budget.ts'
import type { Clock } from '../domain/instant.ts'
import type { LimiterAddress } from './limiter-address.ts'
import { MemoryLimiter } from './memory-limiter.ts'
import type { LimiterReports } from './redis-limiter.ts'

/** Opens a limiter even if it is unreachable; it then keeps trying to connect. */
export async function openLimiter(
  address: LimiterAddress,
  clock: Clock,
  reports: LimiterReports,
): Promise<Limiter> {
  if (address.engine === 'memory') return new MemoryLimiter(clock)
  // Loading the client takes a tenth of a second.
  const { RedisLimiter } = await import('./redis-limiter.ts')
  return RedisLimiter.open(address, clock, reports)
}
