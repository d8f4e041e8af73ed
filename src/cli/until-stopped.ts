import type { Logger } from 'pino'
import type { Service } from '../start.ts'

const signals = ['SIGINT', 'SIGTERM'] as const

/** One signal comes more than once where it was sent to a whole group, and npm or our launcher passes it on as well. */
export const echoMs = 100

/** Waits for the first signal, then stops the service gracefully. A second signal ends the process at once. */
export async function untilStopped(service: Service, logger: Logger): Promise<void> {
  const first = Promise.withResolvers<void>()
  let firstAt: number | null = null
  function onSignal(signal: NodeJS.Signals): void {
    if (firstAt === null) {
      firstAt = performance.now()
      logger.info({ signal }, 'stopping: no new connections, running requests finish')
      first.resolve()
    } else if (performance.now() - firstAt > echoMs) {
      logger.warn({ signal }, 'stopping at once')
      // Not exit(), which would wait for a write under way. The store bears it: that is what transactions are for.
      process.kill(process.pid, 'SIGKILL')
    }
  }
  for (const signal of signals) process.on(signal, onSignal)
  await first.promise
  await service.stop()
  for (const signal of signals) process.removeListener(signal, onSignal)
  logger.info('stopped')
}
