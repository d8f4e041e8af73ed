import { setFlagsFromString } from 'node:v8'
import type { Logger } from 'pino'
import type { Service } from '../start.ts'

/**
 * Runs a service until the first signal, then stops it gracefully. A signal during startup takes effect when
 * the service has started. A second signal ends the process immediately.
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
  // An unhandled rejection of one request must not end the service for all others. An uncaught exception
  // still ends the process, because no state can be relied on after it.
  const onStray = (reason: unknown) => logger.error({ err: reason }, 'a rejected promise was left unhandled')
  try {
    const service = await start()
    process.on('unhandledRejection', onStray)
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

/** A signal sent to a process group arrives twice, because npm or our launcher also forwards it. */
export const echoMs = 100

interface StopHandlers {
  onFirst(signal: NodeJS.Signals): void
  onSecond?(signal: NodeJS.Signals): void
}

/**
 * Calls `onFirst` for the first signal, so that work can finish. A second one ends the process immediately.
 */
export function onStopSignal({ onFirst, onSecond }: StopHandlers): { release(): void } {
  let firstAt: number | null = null
  function onSignal(signal: NodeJS.Signals): void {
    if (firstAt === null) {
      firstAt = performance.now()
      onFirst(signal)
    } else if (performance.now() - firstAt > echoMs) {
      onSecond?.(signal)
      // exit() would wait for a running write. Transactions keep the store consistent.
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

/** Stops V8 from growing the young generation, for processes that allocate few short-lived objects. */
export function keepYoungGenerationSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
}

/** For a service, whose requests allocate many short-lived objects. Called when everything is loaded. */
export function expectShortLived(): void {
  // V8's default: the young generation grows with the allocation rate, so that less of it is copied.
  setFlagsFromString('--semi-space-growth-factor=2')
  // Pretenuring allocates objects in the old generation if V8 expects them to live long. It was wrong about
  // response listeners: each request then stayed until a full collection, and refusals took twice as long.
  setFlagsFromString('--no-allocation-site-pretenuring')
}

/**
 * For a process that handles one batch after another: V8 would let the heap grow to several times a batch
 * before it collects.
 */
export function keepMemorySmall(): void {
  setFlagsFromString('--heap-growing-percent=40')
  // The rows of a batch outlive the young generation.
  keepYoungGenerationSmall()
}
