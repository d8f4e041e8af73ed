import {
  ApiError,
  ClientError,
  ConnectionError,
  type Identifier,
  JournalError,
  LetheClient,
  systemRuntime,
  UnexpectedAnswerError,
} from '@lethe/client'
import { InvalidArgumentError, Option } from 'commander'
import type { Config } from '../../config.ts'
import { tryAgainIn } from '../../domain/budget.ts'
import { LetheError } from '../../domain/errors.ts'
import {
  identifierNameRule,
  identifierValueRule,
  isIdentifierName,
  isIdentifierValue,
} from '../../domain/subject-identifier.ts'
import { type Terminal, UsageError } from '../terminal.ts'

/** A wait that people should know of. */
const longWaitMs = 3_000

/**
 * Does work with a client of the configured service. What goes wrong comes with what to do about it. Long waits are told, unless the
 * work shows for itself how far it has come.
 */
export async function withClient<Result>(
  { apiUrl: url, apiKey }: Config,
  { tell }: Terminal,
  work: (client: LetheClient) => Promise<Result>,
  { tellsWaits = true } = {},
): Promise<Result> {
  if (url === '') {
    throw new UsageError(
      'LETHE_URL is not set. Set it to where the service is, such as http://127.0.0.1:8080.',
    )
  }
  if (apiKey === '') {
    throw new UsageError('LETHE_API_KEY is not set. Set it to a key string; lethe keys create makes one.')
  }
  const runtime = {
    ...systemRuntime,
    wait(ms: number, signal?: AbortSignal) {
      if (tellsWaits && ms >= longWaitMs) tell(`Waiting ${Math.ceil(ms / 1_000)} s, as the service asks.`)
      return systemRuntime.wait(ms, signal)
    },
  }
  try {
    return await work(new LetheClient({ url, apiKey, runtime }))
  } catch (error) {
    if (error instanceof ApiError)
      throw new LetheError(error.code, whatToDo(error, url), [], { cause: error })
    throw error instanceof ClientError || error instanceof JournalError
      ? new Error(whatToDo(error, url), { cause: error })
      : error
  }
}

/** An error of the client in one line that says what to do next. */
function whatToDo(error: ClientError | JournalError, url: string): string {
  if (error instanceof JournalError) return `${error.message} Name another file with --journal.`
  if (error instanceof ApiError) return refusal(error)
  if (error instanceof ConnectionError) {
    return error.reason === 'ECONNREFUSED'
      ? `Nothing listens at ${url}. Start the service with lethe serve, or set LETHE_URL to where it runs.`
      : `The service at ${url} cannot be reached (${error.reason}). Check LETHE_URL and the network.`
  }
  if (error instanceof UnexpectedAnswerError) return `${error.message} Check LETHE_URL, which is ${url}.`
  return `${error.message} Try again; if it stays, look at the log of the service at ${url}.`
}

function refusal({ code, message, details, requestId, retryAfterMs }: ApiError): string {
  switch (code) {
    case 'unauthorized':
      return `The service does not accept the key in LETHE_API_KEY: unknown, rotated, revoked or expired. lethe keys list shows which.`
    case 'forbidden':
      return `${message} Set LETHE_API_KEY to one that has it; lethe keys create makes one.`
    case 'not_found':
      return `${message} Check the ids of the tracker and the subject; lethe subjects list shows who is there.`
    case 'validation_error':
      return details.map((problem) => problem.message).join('; ')
    case 'rate_limited': {
      const wait = retryAfterMs === null ? '' : tryAgainIn(Math.ceil(retryAfterMs / 1_000))
      return message.endsWith(wait) ? message : `${message} ${wait}`
    }
    case 'internal_error':
      return `The service failed. Try again; if it stays, its log has the cause under the request id ${requestId}.`
    case 'invalid_request':
      return message
  }
}

/** Whether the service said that something is not there, or that the key may not do it. */
export function isRefusal(error: unknown, code: ApiError['code']): error is ApiError {
  return error instanceof ApiError && error.code === code
}

/** For what was not confirmed. */
export function notConfirmed(): LetheError {
  return new LetheError('invalid_request', 'Not confirmed; nothing was erased.')
}

export function byOption(description: string): Option {
  return new Option('--by <identifier>', `${description}, such as email=ada@example.com`).argParser(
    readIdentifier,
  )
}

/** An identifier as somebody types it: `email=ada@example.com`. */
export function readIdentifier(text: string): Identifier {
  const equals = text.indexOf('=')
  const [name, value] = [text.slice(0, equals), text.slice(equals + 1)]
  if (equals < 0 || !isIdentifierName(name) || !isIdentifierValue(value)) {
    throw new InvalidArgumentError(
      `It takes name=value, such as email=ada@example.com. A name is ${identifierNameRule}; a value, ${identifierValueRule}.`,
    )
  }
  return { name, value }
}
