import { type Logger, pino } from 'pino'
import type { Config } from './config.ts'

/** Lines wait for each other, so that a request does not wait for the disk; at most this long. */
const flushEveryMs = 100
const bufferBytes = 64 * 1024

/** JSON lines on standard output, or lines for people where that is a terminal and nobody asked for JSON. */
export async function createLogger(
  { logLevel }: Pick<Config, 'logLevel'>,
  { json = false }: { json?: boolean },
): Promise<Logger> {
  const options = { level: logLevel, base: null }
  if (!json && process.stdout.isTTY) {
    const { default: pretty } = await import('pino-pretty')
    return pino(options, pretty({ sync: true, singleLine: true, translateTime: 'SYS:HH:MM:ss' }))
  }
  const pace = { minLength: bufferBytes, maxWrite: 2 * bufferBytes, periodicFlush: flushEveryMs }
  return pino(options, pino.destination({ sync: false, ...pace }))
}
