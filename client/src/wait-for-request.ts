import { isPrivacyRequest, type PrivacyRequest } from './api.ts'
import { requestPath } from './request-parts.ts'
import type { CallOptions, Transport } from './transport.ts'

export interface WaitOptions extends CallOptions {
  /** Called with the request each time it was read. */
  onProgress?: ((request: PrivacyRequest) => void) | undefined
}

const firstPauseMs = 250
const longestPauseMs = 5_000
/** A request that waits for a budget can be cancelled meanwhile. */
const longestRestMs = 300_000

/** Reads a request until it is closed: more often at first, and rarely while it waits for a budget. */
export async function waitForRequest(
  transport: Transport,
  id: string,
  { onProgress, ...options }: WaitOptions,
): Promise<PrivacyRequest> {
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    const call = { ...options, path: requestPath(id), isData: isPrivacyRequest }
    const { data: request, meta } = await transport.repeat(call)
    onProgress?.(request)
    if (isClosed(request)) return request
    const restMs = Math.min(restOf(request, meta.timestamp), longestRestMs)
    await transport.runtime.wait(Math.max(pauseMs, restMs), options.signal)
  }
}

/** Whether a request is closed, which is final. */
export function isClosed({ state }: PrivacyRequest): boolean {
  return state !== 'open' && state !== 'running'
}

/** How long a request waits for a budget, by the clock of the service. */
function restOf({ resumesAt }: PrivacyRequest, now: string): number {
  return resumesAt === null ? 0 : Date.parse(resumesAt) - Date.parse(now)
}
