import { type Logger, pino } from 'pino'
import type { Config } from './config.ts'
import { standardLogOutput } from './log-output.ts'

/** Where the service says what it does. */
export interface Log {
  logger: Logger
  /** Takes whole lines of JSON as pino writes them, for whoever makes them quicker by hand. */
  write(lines: string): void
  /** How many lines were dropped because they could not be written. */
  droppedLines(): number
}

/** JSON lines on standard output, or lines for people where that is a terminal and nobody asked for JSON. */
export async function createLog(
  { logLevel }: Pick<Config, 'logLevel'>,
  { json = false }: { json?: boolean },
): Promise<Log> {
  const output = standardLogOutput((dropped, reason) =>
    logger.warn({ dropped, reason }, 'lines of this log were dropped; it can be written again'),
  )
  const forPeople = !json && process.stdout.isTTY ? await prettyLines() : null
  const write = (lines: string) => output.write(forPeople?.(lines) ?? lines)
  const logger = pino({ level: logLevel, base: null }, { write })
  return { logger, write, droppedLines: () => output.droppedLines }
}

async function prettyLines(): Promise<(lines: string) => string> {
  const { prettyFactory } = await import('pino-pretty')
  const prettify = prettyFactory({ singleLine: true, translateTime: 'SYS:HH:MM:ss' })
  return (lines) => {
    const each = lines.trimEnd().split('\n')
    return each.map((line) => prettify(line)).join('')
  }
}
