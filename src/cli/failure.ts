import { CommanderError } from 'commander'
import { ConfigError } from '../config.ts'
import { type ErrorCode, type FieldProblem, LetheError } from '../domain/errors.ts'
import { MissingStore } from '../domain/store.ts'
import { UsageError } from './usage-error.ts'

/** Why a command failed, as `--json` prints it. */
export interface Failure {
  code: ErrorCode | 'usage_error' | 'configuration_error' | 'missing_store' | 'failed'
  message: string
  details?: readonly FieldProblem[]
}

/** What an error means to whoever ran the command; `null` for the help and the version, which are none. */
export function failureOf(error: unknown): Failure | null {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return null
    const isHelp = error.code === 'commander.help'
    const message = isHelp ? 'A command is missing.' : error.message.replace(/^error: /, '')
    return { code: 'usage_error', message }
  }
  if (error instanceof LetheError) {
    const { code, message, details } = error
    if (details.length === 0) return { code, message }
    return { code, message: details.map((problem) => problem.message).join('; '), details }
  }
  return { code: codeOf(error), message: error instanceof Error ? error.message : String(error) }
}

/** The exit code of a failed command: 1, or 2 when it was used wrongly. */
export function exitCodeOf({ code }: Failure): number {
  return code === 'usage_error' || code === 'configuration_error' ? 2 : 1
}

function codeOf(error: unknown): Failure['code'] {
  if (error instanceof UsageError) return 'usage_error'
  if (error instanceof ConfigError) return 'configuration_error'
  return error instanceof MissingStore ? 'missing_store' : 'failed'
}
