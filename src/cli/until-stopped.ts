import type { Logger } from 'pino'
import type { Service } from '../start.ts'

const signals = ['SIGINT', 'SIGTERM'] as const

/** One Ctrl-C comes more than once where npm or a launcher passes it on to us after the terminal has sent it to everybody. */
const echoMs = 250

/** Waits for the first signal, then stops the service gracefully. A second signal ends the process at once. */
export async function untilStopped(service: Service, logger: Logger): Promise<void> {
  const first = Promise.withResolvers<void>()
  let firstAt: number | null = null
  function onSignal(signal: NodeJS.Signals): void {
    if (firstAt === null) {
      firstAt = performance.now()
      logger.info({ signal }, 'stopping: no new connections, running requests finish')
      first.resolve()
    } else if (signal !== 'SIGINT' || performance.now() - firstAt > echoMs) {
      logger.warn({ signal }, 'stopping at once')
      process.exit(1)
    }
  }
  for (const signal of signals) process.on(signal, onSignal)
  await first.promise
  await service.stop()
  for (const signal of signals) process.removeListener(signal, onSignal)
  logger.info('stopped')
}
