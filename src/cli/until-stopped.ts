import type { Logger } from 'pino'
import type { Service } from '../start.ts'

const signals = ['SIGINT', 'SIGTERM'] as const

/** Waits for the first signal, then stops the service gracefully. A second signal ends the process at once. */
export async function untilStopped(service: Service, logger: Logger): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>()
  const onSecond = () => process.exit(1)
  for (const signal of signals) process.once(signal, resolve)
  const signal = await promise
  for (const signal of signals) process.removeListener(signal, resolve).on(signal, onSecond)
  logger.info({ signal }, 'stopping: no new connections, running requests finish')
  await service.stop()
  for (const signal of signals) process.removeListener(signal, onSecond)
  logger.info('stopped')
}
