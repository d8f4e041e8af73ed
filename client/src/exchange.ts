import { isFailure, isMeta, isObject, type Meta } from './api.ts'
import { type Budget, readBudgets, readRetryAfter, servedAt } from './budget.ts'
import type { Payload } from './compress.ts'
import { ApiError, ConnectionError, TimeoutError, UnexpectedAnswerError } from './errors.ts'
import { longestTimerMs, type Runtime } from './runtime.ts'

/** A request that is ready to be sent. */
export interface Outgoing {
  fetch: typeof fetch
  method: 'GET' | 'POST' | 'DELETE'
  url: string
  headers: Record<string, string>
  body?: Payload['body'] | undefined
  /** For the complete response, including its last byte. */
  timeoutMs: number
  signal?: AbortSignal | undefined
}

/** The envelope of a success. */
export interface Answer {
  data: unknown
  meta: Meta
  budgets: readonly Budget[]
}

/**
 * Sends a request once. Throws the service's error, why there is no usable response, or the signal's reason.
 */
export async function exchange(outgoing: Outgoing, { now }: Runtime): Promise<Answer> {
  const requestId = outgoing.headers['x-request-id'] ?? null
  const { response, text } = await receive(outgoing, requestId)
  return readAnswer(response, text, requestId, now())
}

/** Reads a response. Throws its error, or that it is not from Lethe. */
export function readAnswer(
  { status, headers }: Response,
  text: string,
  requestId: string | null,
  now: number,
): Answer {
  const body = parse(text)
  const meta = isObject(body) && isMeta(body.meta) ? body.meta : null
  const moment = servedAt(headers, meta?.timestamp ?? null, now)
  if (status === 200 && meta !== null && isObject(body))
    return { data: body.data, meta, budgets: readBudgets(headers) }
  const retryAfterMs = readRetryAfter(headers, moment)
  if (status >= 400 && isFailure(body)) throw new ApiError(status, body, retryAfterMs)
  if (status === 200 && body === undefined && headers.get('content-type')?.startsWith('application/json')) {
    throw new ConnectionError('the response is incomplete', requestId)
  }
  throw new UnexpectedAnswerError(status, unexpectedMessage(status, headers), requestId, retryAfterMs)
}

/** Sends a request and reads the whole response. Throws why there is none, or the signal's reason. */
export async function receive(
  { fetch, method, url, headers, body, timeoutMs, signal }: Outgoing,
  requestId: string | null,
): Promise<{ response: Response; text: string }> {
  signal?.throwIfAborted()
  const stop = new AbortController()
  const onAbort = () => stop.abort(signal?.reason)
  signal?.addEventListener('abort', onAbort, { once: true })
  let isTooLate = false
  const onTimeout = () => {
    isTooLate = true
    stop.abort()
  }
  const timer = setTimeout(onTimeout, Math.min(timeoutMs, longestTimerMs))
  try {
    // A redirect could turn an erasure into a read, and would send the key to another address.
    const sent = body === undefined ? {} : { body }
    const response = await fetch(url, { method, headers, ...sent, signal: stop.signal, redirect: 'manual' })
    return { response, text: await response.text() }
  } catch (cause) {
    signal?.throwIfAborted()
    if (isTooLate)
      throw new TimeoutError(`No complete response was received within ${timeoutMs} ms.`, requestId)
    throw new ConnectionError(reasonOf(cause), requestId, cause)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}

/** `undefined` for invalid JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function unexpectedMessage(status: number, headers: Headers): string {
  if (status >= 300 && status < 400) {
    return `The address redirects (status ${status}). Use the target of the redirect.`
  }
  const type = headers.get('content-type')?.split(';')[0] ?? 'no content type'
  return `The response is not from Lethe: status ${status} with ${type}.`
}

/** The code of a connection error, such as ECONNREFUSED, which runtimes put into the cause. */
export function reasonOf(error: unknown): string {
  const causes = [isObject(error) ? error.cause : undefined, error]
  for (const each of causes) {
    if (isObject(each) && typeof each.code === 'string') return each.code
  }
  return error instanceof Error ? error.message : 'unknown reason'
}
