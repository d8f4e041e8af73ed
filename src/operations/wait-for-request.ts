import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../domain/instant.ts'
import { isClosed, type PrivacyRequest, type PrivacyRequestStore } from '../domain/privacy-request.ts'
import { requireRequest } from './privacy-request.ts'

const firstPauseMs = 10
const maxPauseMs = 250

/**
 * Resolves with the request when any process has closed it, when it rests longer than this would wait, or after
 * some time. Rejects if aborted.
 */
export async function waitUntilClosed(
  deps: { privacyRequests: PrivacyRequestStore; clock: Clock },
  request: PrivacyRequest,
  maxWaitMs: number,
  signal: AbortSignal,
): Promise<PrivacyRequest> {
  const endsAt = performance.now() + maxWaitMs
  let current = request
  for (let pauseMs = firstPauseMs; !isClosed(current); pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
    const leftMs = endsAt - performance.now()
    const { resumesAt } = current
    if (leftMs <= 0 || (resumesAt !== null && resumesAt - deps.clock() > leftMs)) return current
    await delay(Math.min(pauseMs, leftMs), undefined, { signal }).catch(() => {})
    signal.throwIfAborted()
    current = await requireRequest(deps, request.organisationId, request.id)
  }
  return current
}
