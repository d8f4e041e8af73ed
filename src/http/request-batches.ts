import { RequestBatch, type RequestContext } from './request-context.ts'

/** A larger number is split, so that the first responses are sent while other requests still arrive. */
const maxBatch = 16
/**
 * How many requests start per iteration of the event loop. Each iteration accepts one connection per
 * listening socket, so new clients would otherwise wait for several iterations of a thousand requests each.
 */
const maxPerIteration = 64

/**
 * Runs requests that arrive in the same iteration of the event loop together: they share one read
 * transaction, and clients are woken once for many responses. Returns the function that accepts a request.
 */
export function requestBatches(
  runBatch: (contexts: readonly RequestContext[]) => void,
): (context: RequestContext) => void {
  const arrived: RequestContext[] = []
  let begun = 0
  let isScheduled = false

  function begin(): void {
    const contexts = arrived.splice(0, maxBatch)
    begun += contexts.length
    const batch = new RequestBatch()
    for (const context of contexts) context.batch = batch
    runBatch(contexts)
  }

  function endIteration(): void {
    while (arrived.length > 0 && begun < maxPerIteration) begin()
    begun = 0
    isScheduled = arrived.length > 0
    if (isScheduled) setImmediate(endIteration)
  }

  return (context) => {
    arrived.push(context)
    if (!isScheduled) {
      isScheduled = true
      setImmediate(endIteration)
    }
    if (arrived.length >= maxBatch && begun < maxPerIteration) begin()
  }
}
