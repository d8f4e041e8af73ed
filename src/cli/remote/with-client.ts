import {
  ApiError,
  ClientError,
  ConnectionError,
  type Identifier,
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

interface ClientUse {
  reportsWaits?: boolean
  maxAttempts?: number
  /** Where to look up an ID that does not exist. */
  idHint?: string
}

/** For commands on requests. */
export const requestHint = { idHint: 'Check the ID of the request; lethe requests list shows the requests.' }

const subjectHint = 'Check the IDs of the tracker and the subject; lethe subjects list shows the subjects.'

/** Shorter waits are not reported. */
const longWaitMs = 3_000

/**
 * Runs `work` with a client of the configured service. Errors say what to do. Long waits are reported, unless
 * `work` shows its own progress. With `maxAttempts`, `work` decides what to repeat.
 */
export async function withClient<Result>(
  { apiUrl: url, apiKey }: Config,
  { tell }: Terminal,
  work: (client: LetheClient) => Promise<Result>,
  { reportsWaits = true, maxAttempts, idHint }: ClientUse = {},
): Promise<Result> {
  if (url === '') {
    throw new UsageError(
      'LETHE_URL is not set. Set it to the address of the service, such as http://127.0.0.1:8080.',
    )
  }
  if (apiKey === '') {
    throw new UsageError('LETHE_API_KEY is not set. Set it to an API key; lethe keys create makes one.')
  }
  const runtime = {
    ...systemRuntime,
    wait(ms: number, signal?: AbortSignal) {
      if (reportsWaits && ms >= longWaitMs)
        tell(`Waiting ${Math.ceil(ms / 1_000)} s, as requested by the service.`)
      return systemRuntime.wait(ms, signal)
    },
  }
  try {
    return await work(
      new LetheClient({ url, apiKey, runtime, retry: maxAttempts === undefined ? {} : { maxAttempts } }),
    )
  } catch (error) {
    if (error instanceof ApiError)
      throw new LetheError(error.code, whatToDo(error, url, idHint), [], { cause: error })
    throw error instanceof ClientError ? new Error(whatToDo(error, url), { cause: error }) : error
  }
}

/** Describes an error of the client in one line that says what to do next. */
export function whatToDo(error: ClientError, url: string, idHint = subjectHint): string {
  if (error instanceof ApiError) return refusal(error, idHint)
  if (error instanceof ConnectionError) {
    return error.reason === 'ECONNREFUSED'
      ? `No service is listening at ${url}. Start the service with lethe serve, or check LETHE_URL.`
      : `Cannot reach the service at ${url} (${error.reason}). Check LETHE_URL and the network.`
  }
  if (error instanceof UnexpectedAnswerError) return `${error.message} Check LETHE_URL (${url}).`
  return `${error.message} Try again. If it keeps happening, check the log of the service at ${url}.`
}

function refusal({ code, message, details, requestId, retryAfterMs }: ApiError, idHint: string): string {
  switch (code) {
    case 'unauthorized':
      return 'The key in LETHE_API_KEY is unknown, rotated, revoked or expired. Check it with lethe keys list.'
    case 'forbidden':
      return `${message} Set LETHE_API_KEY to a key with this scope; lethe keys create makes one.`
    case 'not_found':
      return `${message} ${idHint}`
    case 'validation_error':
      return details.map((problem) => problem.message).join('; ')
    case 'rate_limited': {
      const wait = retryAfterMs === null ? '' : tryAgainIn(Math.ceil(retryAfterMs / 1_000))
      return message.endsWith(wait) ? message : `${message} ${wait}`
    }
    case 'internal_error':
      return `The service failed. Try again. If it keeps happening, look for the request ID ${requestId} in its log.`
    case 'invalid_request':
      return message
  }
}

/** Whether the service refused a request with this code. */
export function isRefusal(error: unknown, code: ApiError['code']): error is ApiError {
  return error instanceof ApiError && error.code === code
}

export function notConfirmed(): LetheError {
  return new LetheError('invalid_request', 'Not confirmed. Nothing was erased.')
}

export function byOption(description: string): Option {
  return new Option('--by <identifier>', `${description}, such as email=ada@example.com`).argParser(
    readIdentifier,
  )
}

/** Parses an identifier such as `email=ada@example.com`. */
export function readIdentifier(text: string): Identifier {
  const equals = text.indexOf('=')
  const [name, value] = [text.slice(0, equals), text.slice(equals + 1)]
  if (equals < 0 || !isIdentifierName(name) || !isIdentifierValue(value)) {
    throw new InvalidArgumentError(
      `Expected name=value, such as email=ada@example.com. A name is ${identifierNameRule}; a value has ${identifierValueRule}.`,
    )
  }
  return { name, value }
}
