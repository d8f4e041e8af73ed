import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Logger } from 'pino'
import type { Service } from '../start.ts'

/**
 * Runs a service until the first signal, then stops it gracefully; a signal that comes while it starts does so as soon as it has. A
 * second signal ends the process immediately.
 */
export async function untilStopped(start: () => Promise<Service>, logger: Logger): Promise<void> {
  const first = Promise.withResolvers<void>()
  const stopping = onStopSignal({
    onFirst(signal) {
      logger.info({ signal }, 'stopping: no new connections, running requests finish')
      first.resolve()
    },
    onSecond: (signal) => logger.warn({ signal }, 'stopping immediately'),
  })
  // What one request forgot to wait for must not end the service for all others. After an exception that nobody caught, no state can
  // be relied on: that one ends the process, as Node does by itself.
  const onStray = (reason: unknown) => logger.error({ err: reason }, 'a rejected promise was left unhandled')
  try {
    const service = await start()
    process.on('unhandledRejection', onStray)
    // Everything is loaded.
    expectShortLived()
    await first.promise
    await service.stop()
    logger.info('stopped')
  } finally {
    process.removeListener('unhandledRejection', onStray)
    stopping.release()
  }
}

const signals = ['SIGINT', 'SIGTERM'] as const

/** One signal comes more than once where it was sent to a whole group, and npm or our launcher passes it on as well. */
export const echoMs = 100

interface StopHandlers {
  onFirst(signal: NodeJS.Signals): void
  onSecond?(signal: NodeJS.Signals): void
}

/** Calls `onFirst` for the first signal, so that work can be brought to an end. A second one ends the process immediately. */
export function onStopSignal({ onFirst, onSecond }: StopHandlers): { release(): void } {
  let firstAt: number | null = null
  function onSignal(signal: NodeJS.Signals): void {
    if (firstAt === null) {
      firstAt = performance.now()
      onFirst(signal)
    } else if (performance.now() - firstAt > echoMs) {
      onSecond?.(signal)
      // Not exit(), which would wait for a write under way. The store bears it: that is what transactions are for.
      process.kill(process.pid, 'SIGKILL')
    }
  }
  for (const signal of signals) process.on(signal, onSignal)
  return {
    release() {
      for (const signal of signals) process.removeListener(signal, onSignal)
    },
  }
}

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
