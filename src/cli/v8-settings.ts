import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** V8 then lets the part of the heap for what is new stay as large as it is, which suits whoever makes little that is short-lived. */
export function keepYoungGenerationSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
}

/** For a service, whose requests make much that is short-lived. */
export function expectShortLived(): void {
  // As V8 does by itself: the more is made, the larger, so that less of it is looked at.
  setFlagsFromString('--semi-space-growth-factor=2')
  // V8 would put what a line of code makes among the old as soon as it thinks that it will live long. Where that is wrong, as it was
  // of the listeners on answers, each request stays until the whole heap is looked at: refusals then took twice their time.
  setFlagsFromString('--no-allocation-site-pretenuring')
}

/**
 * For a process that handles batch after batch, each much garbage in one go: V8 would let memory grow to several times that before it
 * looks. Hands back what collects this thread's garbage now.
 */
export function keepMemorySmall(): () => void {
  setFlagsFromString('--heap-growing-percent=40')
  // The rows of a batch outlive the young generation anyway.
  keepYoungGenerationSmall()
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc')
}
