import type { Limiter } from '../../domain/budget.ts'
import { LetheError } from '../../domain/errors.ts'
import type { Store } from '../../domain/store.ts'

/** How the parts stand that requests need. Without its store a service is not ready; without its limiter it counts by itself. */
export interface Readiness {
  store: 'ok'
  limiter: 'ok' | 'unreachable'
}

/** Longer than a healthy store ever takes, shorter than whoever asks will wait. */
const storeTimeoutMs = 2_000

/** Asks the parts how they are. `internal_error` that names the store when it does not answer in time; the cause is not in the message. */
export async function checkReadiness(
  store: Pick<Store, 'ping'>,
  limiter: Pick<Limiter, 'isReachable'>,
): Promise<Readiness> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => late.reject(new Error(`The store has not answered for ${storeTimeoutMs} ms.`)),
    storeTimeoutMs,
  )
  try {
    await Promise.race([store.ping(), late.promise])
  } catch (cause) {
    throw new LetheError('internal_error', 'The store does not answer.', [], { cause })
  } finally {
    clearTimeout(timer)
  }
  return { store: 'ok', limiter: limiter.isReachable() ? 'ok' : 'unreachable' }
}
