import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')

/** Collects garbage now, so that only what is still reachable remains in memory. */
export const collectGarbage: () => void = runInNewContext('gc')

/** The bytes on the heap that are still reachable. */
export function heapUsed(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}
