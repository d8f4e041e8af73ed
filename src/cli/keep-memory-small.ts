import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { keepYoungGenerationSmall } from './young-generation.ts'

/**
 * For a process that handles batch after batch, each much garbage at once: V8 would let memory grow to several times that before it
 * looks. Hands back what collects this thread's garbage now.
 */
export function keepMemorySmall(): () => void {
  setFlagsFromString('--heap-growing-percent=40')
  // The rows of a batch outlive the young generation anyway.
  keepYoungGenerationSmall()
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc')
}
