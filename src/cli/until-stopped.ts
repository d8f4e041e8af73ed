import type { Logger } from 'pino'
import type { Service } from '../start.ts'
import { onStopSignal } from './on-stop-signal.ts'
import { expectShortLived } from './young-generation.ts'

/** Waits for the first signal, then stops the service gracefully. A second signal ends the process at once. */
export async function untilStopped(service: Service, logger: Logger): Promise<void> {
  // Everything is loaded.
  expectShortLived()
  const first = Promise.withResolvers<void>()
  const stopping = onStopSignal({
    onFirst(signal) {
      logger.info({ signal }, 'stopping: no new connections, running requests finish')
      first.resolve()
    },
    onSecond: (signal) => logger.warn({ signal }, 'stopping at once'),
  })
  // What one request forgot to wait for must not end the service for all others. After an exception that nobody caught, no state can
  // be relied on: that one ends the process, as Node does by itself.
  const onStray = (reason: unknown) => logger.error({ err: reason }, 'a rejected promise was left unhandled')
  process.on('unhandledRejection', onStray)
  await first.promise
  await service.stop()
  process.removeListener('unhandledRejection', onStray)
  stopping.release()
  logger.info('stopped')
}
