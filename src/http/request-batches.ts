import { RequestBatch, type RequestContext } from './request-context.ts'

/** Of more than this the first are answered while the last still come. */
const maxBatch = 16
/**
 * How many begin in one turn of the event loop; the others wait for the next. A turn accepts one connection from each socket that
 * listens, so who comes anew would otherwise wait for several turns of a thousand requests each.
 */
const maxPerTurn = 64

/**
 * Requests that came with the same turn of the event loop are run one behind the other: what they read, they read at one moment after
 * all of them came, and their clients are woken once for many answers. Hands back what a request that comes is given to.
 */
export function requestBatches(
  runBatch: (contexts: readonly RequestContext[]) => void,
): (context: RequestContext) => void {
  const arrived: RequestContext[] = []
  let begun = 0
  let isTurnUnderWay = false

  function begin(): void {
    const contexts = arrived.splice(0, maxBatch)
    begun += contexts.length
    const batch = new RequestBatch()
    for (const context of contexts) context.batch = batch
    runBatch(contexts)
  }

  function endTurn(): void {
    while (arrived.length > 0 && begun < maxPerTurn) begin()
    begun = 0
    isTurnUnderWay = arrived.length > 0
    if (isTurnUnderWay) setImmediate(endTurn)
  }

  return (context) => {
    arrived.push(context)
    if (!isTurnUnderWay) {
      isTurnUnderWay = true
      setImmediate(endTurn)
    }
    if (arrived.length >= maxBatch && begun < maxPerTurn) begin()
  }
}
