import type { Logger } from 'pino'
import type { Service } from '../start.ts'
import { onStopSignal } from './on-stop-signal.ts'
import { expectShortLived } from './v8-settings.ts'

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
