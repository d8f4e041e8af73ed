import type { Limiter } from '../../domain/budget.ts'
import { LetheError } from '../../domain/errors.ts'
import type { Journal } from '../../domain/journal.ts'
import type { Store } from '../../domain/store.ts'
import { askStore } from './ask-store.ts'

/** How the parts stand that requests need. Without its store a service is not ready; without its limiter it counts by itself. */
export interface Readiness {
  store: 'ok'
  limiter: 'ok' | 'unreachable'
}

/**
 * Asks the parts how they are. `internal_error` that names the store when it does not answer in time, or the journal where one is kept
 * and cannot be written; the cause is not in the message. What the journal lacks since a write failed is tried again.
 */
export async function checkReadiness(
  { journal, ...store }: Pick<Store, 'ping'> & { journal?: Pick<Journal, 'recover'> | undefined },
  limiter: Pick<Limiter, 'isReachable'>,
): Promise<Readiness> {
  await askStore(() => store.ping()).catch((cause) => {
    throw new LetheError('internal_error', 'The store does not answer.', [], { cause })
  })
  await journal?.recover().catch((cause) => {
    throw new LetheError('internal_error', 'The journal cannot be written.', [], { cause })
  })
  return { store: 'ok', limiter: limiter.isReachable() ? 'ok' : 'unreachable' }
}
