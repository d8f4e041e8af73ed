import type { IncomingMessage } from 'node:http'
import { gzip } from 'node:zlib'
import type { Logger } from 'pino'
import { type BudgetState, type CountedBudget, tryAgainIn } from '../domain/budget.ts'
import { type ErrorCode, LetheError } from '../domain/errors.ts'
import { type Clock, formatInstant, type Instant } from '../domain/instant.ts'
import type { Randomness } from '../domain/randomness.ts'
import { preferredOf, readAccepted } from './asset.ts'
import { maxUnreadBytes } from './connections.ts'
import type { FailureBody } from './envelope.ts'
import { type HeaderList, hasBearerToken, type RequestContext, type Responder } from './request-context.ts'
import { SpoolRoom } from './spool.ts'
import { ClientGone, StreamedBody, streamEncodings } from './streamed-body.ts'

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
  /** Told how many bytes more or fewer, made for one client alone, wait in memory until the client takes them. */
  onUnread(context: RequestContext, bytes: number): void
  /** How many bytes wait in memory for all clients. */
  unreadBytes(): number
  /** Where streamed answers wait that do not fit into memory. */
  spoolFolder: string | null
}

/**
 * Writes every answer, straight to Node: all its headers are known by then, which is when that costs least. A request has one answer,
 * the first: another is dropped and logged, whoever makes it.
 */
export function responder(deps: ResponderDeps): Responder {
  const { clock, randomness, logger, isClosing, onUnread } = deps
  const room = new SpoolRoom({ folder: deps.spoolFolder, randomness })
  const closesBehind = (request: IncomingMessage) => isClosing() || isLastRequest(request)

  function write(context: RequestContext, status: number, body: string | Buffer, headers?: HeaderList): void {
    const { response } = context
    if (response.headersSent || context.isPacking) {
      logger.error({ requestId: context.keptId, status }, 'a second answer to a request was dropped')
      return
    }
    const list = headers ?? commonHeaders(context)
    const bytes = typeof body === 'string' ? Buffer.byteLength(body) : body.length
    if (typeof body === 'string' && bytes > worthPacking) pack(context, status, body, bytes, list)
    else send(context, status, body, bytes, list)
  }

  /** Sends a long answer packed to whoever takes it so. It is packed off the event loop. */
  function pack(
    context: RequestContext,
    status: number,
    body: string,
    bytes: number,
    headers: HeaderList,
  ): void {
    headers.push('Vary', 'Accept-Encoding')
    if (!readAccepted(context.request).has('gzip')) {
      send(context, status, body, bytes, headers)
      return
    }
    context.isPacking = true
    gzip(body, (error, packed) => {
      try {
        if (error) throw error
        headers.push('Content-Encoding', 'gzip')
        send(context, status, packed, packed.length, headers)
        countUnread(context, packed.length)
      } catch (cause) {
        logger.error({ requestId: context.keptId, err: cause }, 'an answer could not be packed')
        context.response.destroy()
      }
    })
  }

  function send(
    context: RequestContext,
    status: number,
    body: string | Buffer,
    bytes: number,
    headers: HeaderList,
  ): void {
    const { request, response } = context
    if (status !== 204 && status !== 304) headers.push('Content-Length', bytes)
    if (closesBehind(request)) headers.push('Connection', 'close')
    response.writeHead(status, headers)
    if (request.method === 'HEAD') response.end()
    else if (typeof body === 'string') {
      // Most answers are plain ASCII, which goes out as it stands.
      response.end(body, bytes === body.length ? 'latin1' : 'utf8')
      countUnread(context, bytes)
    } else response.end(body)
  }

  /** Nearly always the system has taken all of it by now. */
  function countUnread(context: RequestContext, bytes: number): void {
    if (context.response.writableLength > 0) onUnread(context, bytes)
  }

  function writeFailure(context: RequestContext, error: unknown): void {
    const { request, match } = context
    const { status, headers, body } = failure(error, {
      requestId: context.id,
      now: clock(),
      budget: context.budget,
      counted: context.counted,
      hasCredential: hasBearerToken(request.headers.authorization),
      isConsole: match.pipeline === 'member' || match.pipeline === 'open',
      scope: match.kind === 'route' ? match.route.access : null,
      allow: context.allow,
    })
    if (status === 500) logger.error({ requestId: context.keptId, err: error }, 'request failed')
    write(context, status, JSON.stringify(body), headers)
  }

  return {
    write,
    succeed(context, data) {
      write(context, 200, JSON.stringify({ data, meta: metaOf(context.id, clock()) }))
    },
    async stream(context, produce, headers = []) {
      const { id, request, response } = context
      const encoding = preferredOf(request, streamEncodings)
      const begin = () => {
        const list = [
          ...withoutRepeated(commonHeaders(context), headers),
          ...headers,
          'Vary',
          'Accept-Encoding',
        ]
        if (encoding !== null) list.push('Content-Encoding', encoding)
        if (closesBehind(request)) list.push('Connection', 'close')
        response.writeHead(200, list)
      }
      if (request.method === 'HEAD') {
        begin()
        response.end()
        return
      }
      const body = new StreamedBody(response, {
        ...{ room, begin, encoding, owner: context.owner },
        hasMemory: (bytes) => deps.unreadBytes() + bytes <= maxSpoolMemoryBytes,
        onUnread: (bytes) => onUnread(context, bytes),
      })
      try {
        await produce({
          add: (text) => body.add(text),
          meta: () => metaOf(id, clock()),
          signal: body.signal,
        })
        await body.end()
        // Its headers were gone long before: a server that is about to stop since then need not wait for the connection.
        if (isClosing()) request.socket.end()
      } catch (error) {
        await body.abandon()
        if (error instanceof ClientGone) return
        if (!response.headersSent) throw error
        logger.error({ requestId: context.keptId, err: error }, 'an answer broke off')
        response.destroy()
      }
    },
    fail(context, error) {
      if (error instanceof ClientGone) return
      try {
        writeFailure(context, error)
      } catch (cause) {
        logger.error({ requestId: context.keptId, err: cause }, 'a failure could not be answered')
        context.response.destroy()
      }
    },
  }
}

export interface FailureContext {
  requestId: string
  now: Instant
  budget: BudgetState | null
  counted: readonly CountedBudget[]
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
  let message =
    known?.message ??
    'Something went wrong on our side. Try again. If it keeps happening, report this request ID.'
  const { requestId, budget, now, hasCredential, isConsole = false, scope, allow } = context
  const headers = commonHeaders({ ...context, id: requestId })
  if (code === 'unauthorized' && !isConsole) {
    headers.push('WWW-Authenticate', `Bearer realm="lethe"${hasCredential ? ', error="invalid_token"' : ''}`)
  }
  if (code === 'forbidden' && !isConsole) {
    headers.push('WWW-Authenticate', `Bearer error="insufficient_scope", scope="${scope}"`)
  }
  const wait = known?.retryAfterSeconds ?? (budget && secondsLeft(budget))
  if (code === 'rate_limited' && wait !== null) {
    headers.push('Retry-After', wait)
    message += ` ${tryAgainIn(wait)}`
  }
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

/** A request that is answered, or what never became one. */
interface Answered {
  id: string
  budget: BudgetState | null
  counted: readonly CountedBudget[]
}

/** What every answer carries: its request's id, its type, and the budgets it was counted in, where they are known. */
export function commonHeaders({ id, budget, counted }: Answered): HeaderList {
  const headers: HeaderList = [
    'X-Request-Id',
    id,
    'Cache-Control',
    'no-store',
    'X-Content-Type-Options',
    'nosniff',
    'Content-Security-Policy',
    "default-src 'none'; frame-ancestors 'none'",
    'Content-Type',
    'application/json; charset=utf-8',
  ]
  if (budget === null || budget.isStandIn) return headers
  headers.push('X-RateLimit-Limit', budget.limit, 'X-RateLimit-Remaining', budget.remaining)
  // Rounded up, so that whoever waits for it has waited long enough.
  headers.push('X-RateLimit-Reset', Math.ceil(budget.resetsAt / 1000))
  let policy = ''
  let limit = ''
  for (const { budget, state } of counted) {
    const separator = policy === '' ? '' : ', '
    policy += `${separator}"${budget.name}";q=${budget.limit};w=${Math.ceil(budget.windowMs / 1000)}`
    limit += `${separator}"${budget.name}";r=${state.remaining};t=${secondsLeft(state)}`
  }
  if (policy !== '') headers.push('RateLimit-Policy', policy, 'RateLimit', limit)
  return headers
}

/** What every answer carries, but for what this one says for itself. */
function withoutRepeated(common: HeaderList, own: HeaderList): HeaderList {
  const isOwn = (name: string | number | undefined) => own.some((each, i) => i % 2 === 0 && each === name)
  return common.filter((_, i) => !isOwn(common[i - (i % 2)]))
}

/** The whole seconds after which a budget is full again, at least one. By the clock that counts it, which may not be ours. */
function secondsLeft({ resetsAt, countedAt }: BudgetState): number {
  return Math.max(1, Math.ceil((resetsAt - countedAt) / 1000))
}

/** While more wait in memory than this, streamed answers wait on the disk: half of what may wait there at all. */
const maxSpoolMemoryBytes = maxUnreadBytes / 2

/** Answers of more bytes than this are packed. */
const worthPacking = 1_024

/**
 * Whether nothing that comes behind a request can be trusted: Node drops it behind a request for another protocol, and chunks are not
 * for HTTP/1.0, where somebody in between may have read another end of the body.
 */
function isLastRequest({ headers, httpVersionMinor }: IncomingMessage): boolean {
  return (
    headers.upgrade !== undefined || (httpVersionMinor === 0 && headers['transfer-encoding'] !== undefined)
  )
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
