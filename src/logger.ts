import { type Logger, pino } from 'pino'
import pretty from 'pino-pretty'
import type { Config } from './config.ts'

/** JSON lines on standard output, or lines for people where that is a terminal and nobody asked for JSON. */
export function createLogger(
  { logLevel }: Pick<Config, 'logLevel'>,
  { json = false }: { json?: boolean },
): Logger {
  const options = { level: logLevel, base: null }
  if (json || !process.stdout.isTTY) return pino(options)
  return pino(options, pretty({ sync: true, singleLine: true, translateTime: 'SYS:HH:MM:ss' }))
}
