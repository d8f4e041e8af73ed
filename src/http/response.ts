import type { IncomingMessage } from 'node:http'
import type { Logger } from 'pino'
import type { BudgetState } from '../domain/budget.ts'
import { type ErrorCode, LetheError } from '../domain/errors.ts'
import { type Clock, formatInstant, type Instant } from '../domain/instant.ts'
import type { Randomness } from '../domain/randomness.ts'
import type { HeaderList, RequestContext, Responder } from './request-context.ts'
import { loggableId } from './request-log.ts'
import type { FailureBody } from './schemas/envelope.ts'
import { ClientGone, StreamedBody } from './streamed-body.ts'

/** The HTTP status of each error code. */
export const errorStatus: Record<ErrorCode, 400 | 401 | 403 | 404 | 422 | 429 | 500> = {
  invalid_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  validation_error: 422,
  rate_limited: 429,
  internal_error: 500,
}

export interface ResponderDeps {
  clock: Clock
  randomness: Randomness
  logger: Logger
  /** Whether the server is about to stop: a client that kept its connection would keep it from that. */
  isClosing(): boolean
  /** Told of an answer, made for its client alone, that has to wait until the client takes it, and of its bytes. */
  onUnread(context: RequestContext, bytes: number): void
}

/**
 * Writes every answer, straight to Node: all its headers are known by then, which is when that costs least. A request has one answer,
 * the first: another is dropped and logged, whoever makes it.
 */
export function responder({ clock, randomness, logger, isClosing, onUnread }: ResponderDeps): Responder {
  /** Node drops whatever came behind a request for another protocol, so its client must not wait for answers to that. */
  const closesBehind = ({ headers }: IncomingMessage) => isClosing() || headers.upgrade !== undefined

  function write(context: RequestContext, status: number, body: string | Buffer, headers?: HeaderList): void {
    const { id, request, response, budget } = context
    if (response.headersSent) {
      logger.error({ requestId: loggableId(context), status }, 'a second answer to a request was dropped')
      return
    }
    const list = headers ?? commonHeaders(id, budget)
    const isText = typeof body === 'string'
    const bytes = isText ? Buffer.byteLength(body) : body.length
    list.push('Content-Length', bytes)
    if (closesBehind(request)) list.push('Connection', 'close')
    response.writeHead(status, list)
    // Most answers are plain ASCII, which goes out as it stands.
    if (request.method === 'HEAD') response.end()
    else if (isText) {
      response.end(body, bytes === body.length ? 'latin1' : 'utf8')
      // Nearly always the system has taken all of it by now.
      if (response.writableLength > 0) onUnread(context, bytes)
    } else response.end(body)
  }

  function writeFailure(context: RequestContext, error: unknown): void {
    const { request, match } = context
    const { status, headers, body } = failure(error, {
      requestId: context.id,
      now: clock(),
      budget: context.budget,
      hasCredential: request.headers.authorization !== undefined,
      isConsole: match.pipeline === 'member' || match.pipeline === 'open',
      scope: match.kind === 'route' ? match.route.access : null,
      allow: context.allow,
    })
    if (status === 500) logger.error({ requestId: loggableId(context), err: error }, 'request failed')
    write(context, status, JSON.stringify(body), headers)
  }

  return {
    write,
    succeed(context, data) {
      write(context, 200, JSON.stringify({ data, meta: metaOf(context.id, clock()) }))
    },
    async stream(context, produce, headers = []) {
      const { id, request, response, budget } = context
      const begin = () => {
        const list = [...commonHeaders(id, budget), ...headers]
        if (closesBehind(request)) list.push('Connection', 'close')
        response.writeHead(200, list)
      }
      if (request.method === 'HEAD') {
        begin()
        response.end()
        return
      }
      const body = new StreamedBody(response, randomness, begin)
      try {
        await produce(
          (text) => body.add(text),
          () => metaOf(id, clock()),
        )
        await body.end()
        // Its headers were gone long before: a server that is about to stop since then need not wait for the connection.
        if (isClosing()) request.socket.end()
      } catch (error) {
        await body.abandon()
        if (error instanceof ClientGone) return
        if (!response.headersSent) throw error
        logger.error({ requestId: loggableId(context), err: error }, 'an answer broke off')
        response.destroy()
      }
    },
    fail(context, error) {
      try {
        writeFailure(context, error)
      } catch (cause) {
        logger.error({ requestId: loggableId(context), err: cause }, 'a failure could not be answered')
        context.response.destroy()
      }
    },
  }
}

export interface FailureContext {
  requestId: string
  now: Instant
  budget: BudgetState | null
  /** Whether the client sent a credential at all. */
  hasCredential: boolean
  /** Whether it is at the console, where no key would help. */
  isConsole?: boolean
  /** The scope that the request's route needs. */
  scope?: string | null
  /** The methods that the request's path takes, where its method is the failure. */
  allow?: string | null
}

/** What a failed request is answered with, whoever writes the answer. What is no `LetheError` says nothing of its cause. */
export function failure(
  error: unknown,
  context: FailureContext,
): { status: number; headers: HeaderList; body: FailureBody } {
  const known = error instanceof LetheError ? error : null
  const code = known?.code ?? 'internal_error'
  const message =
    known?.message ?? 'Something went wrong on our side. Try again; if it stays, tell us the request id.'
  const { requestId, budget, now, hasCredential, isConsole = false, scope, allow } = context
  const headers = commonHeaders(requestId, budget)
  if (code === 'unauthorized' && !isConsole) {
    headers.push('WWW-Authenticate', `Bearer realm="lethe"${hasCredential ? ', error="invalid_token"' : ''}`)
  }
  if (code === 'forbidden' && !isConsole) {
    headers.push('WWW-Authenticate', `Bearer error="insufficient_scope", scope="${scope}"`)
  }
  const wait = known?.retryAfterSeconds ?? (budget && retryAfter(budget))
  if (code === 'rate_limited' && wait !== null) headers.push('Retry-After', wait)
  if (allow) headers.push('Allow', allow)
  return {
    status: errorStatus[code],
    headers,
    body: {
      error: { code, message, ...(known && known.details.length > 0 && { details: known.details }) },
      meta: metaOf(requestId, now),
    },
  }
}

/** What every answer carries: its request's id, its type, and the budget its client should mind, where one was spent and is known. */
export function commonHeaders(requestId: string, budget: BudgetState | null): HeaderList {
  const headers: HeaderList = [
    'X-Request-Id',
    requestId,
    'Cache-Control',
    'no-store',
    'X-Content-Type-Options',
    'nosniff',
    'Content-Type',
    'application/json; charset=utf-8',
  ]
  if (budget === null || budget.isStandIn) return headers
  headers.push('X-RateLimit-Limit', budget.limit, 'X-RateLimit-Remaining', budget.remaining)
  // Rounded up, so that whoever waits for it has waited long enough.
  headers.push('X-RateLimit-Reset', Math.ceil(budget.resetsAt / 1000))
  return headers
}

/** The whole seconds after which a budget is full again, at least one. By the clock that counts it, which may not be ours. */
function retryAfter({ resetsAt, countedAt }: BudgetState): number {
  return Math.max(1, Math.ceil((resetsAt - countedAt) / 1000))
}

let lastInstant: Instant = 0
let lastTimestamp = formatInstant(0)

/** What every envelope carries. Writing an instant out costs more than looking whether it is still the same millisecond. */
function metaOf(requestId: string, now: Instant): FailureBody['meta'] {
  if (now !== lastInstant) {
    lastInstant = now
    lastTimestamp = formatInstant(now)
  }
  return { requestId, timestamp: lastTimestamp }
}
