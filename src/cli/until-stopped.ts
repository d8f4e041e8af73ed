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
  await first.promise
  await service.stop()
  stopping.release()
  logger.info('stopped')
}
