import type { IncomingMessage } from 'node:http'
import { gzip, gzipSync } from 'node:zlib'
import type { Logger } from 'pino'
import { type BudgetState, type CountedBudget, tryAgainIn } from '../domain/budget.ts'
import { type ErrorCode, LetheError } from '../domain/errors.ts'
import { type Clock, formatInstant, type Instant } from '../domain/instant.ts'
import type { Randomness } from '../domain/randomness.ts'
import { recentSignInMs } from '../domain/sign-in.ts'
import { preferredOf, readAccepted } from './asset.ts'
import { maxUnreadBytes } from './connections.ts'
import type { FailureBody } from './envelope.ts'
import { type HeaderList, hasBearerToken, type RequestContext, type Responder } from './request-context.ts'
import { commonHeaders, crossOriginHeaders, secondsLeft, withoutRepeated } from './response-headers.ts'
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

interface ResponderDeps {
  clock: Clock
  randomness: Randomness
  logger: Logger
  /** Whether the server is stopping: then connections are closed after their responses. */
  isClosing(): boolean
  /** Receives the change in the number of bytes in memory that a client has not read. */
  onUnread(context: RequestContext, bytes: number): void
  /** The number of unread bytes of all clients. */
  unreadBytes(): number
  /** The folder for streamed responses that do not fit into memory. */
  spoolFolder: string | null
}

/**
 * Writes every response. All headers are written together, which is the cheapest way in Node. A second
 * response to a request is dropped and logged.
 */
export function responder(deps: ResponderDeps): Responder {
  const { clock, randomness, logger, isClosing, onUnread } = deps
  const room = new SpoolRoom({ folder: deps.spoolFolder, randomness })
  const closesAfter = (request: IncomingMessage) => isClosing() || isLastRequest(request)

  function write(context: RequestContext, status: number, body: string | Buffer, headers?: HeaderList): void {
    const { response } = context
    if (response.headersSent || context.isPacking) {
      logger.error({ requestId: context.keptId, status }, 'dropped a second response to a request')
      return
    }
    const list = headers ?? commonHeaders(context)
    if (context.match.pipeline === 'token') list.push(...crossOriginHeaders)
    const bytes = typeof body === 'string' ? Buffer.byteLength(body) : body.length
    if (typeof body === 'string' && bytes > minCompressedBytes) pack(context, status, body, bytes, list)
    else send(context, status, body, bytes, list)
  }

  /** Compresses a response if the client accepts it, off the event loop unless that takes longer. */
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
    const sendPacked = (packed: Buffer) => {
      headers.push('Content-Encoding', 'gzip')
      send(context, status, packed, packed.length, headers)
      countUnread(context, packed.length)
    }
    if (bytes <= maxPackedAtOnceBytes) {
      sendPacked(gzipSync(body))
      return
    }
    context.isPacking = true
    gzip(body, (error, packed) => {
      try {
        if (error) throw error
        sendPacked(packed)
      } catch (cause) {
        logger.error({ requestId: context.keptId, err: cause }, 'failed to compress a response')
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
    if (closesAfter(request)) headers.push('Connection', 'close')
    response.writeHead(status, headers)
    if (request.method === 'HEAD') response.end()
    else if (typeof body === 'string') {
      // Most responses are ASCII, which needs no encoding.
      response.end(body, bytes === body.length ? 'latin1' : 'utf8')
      countUnread(context, bytes)
    } else response.end(body)
  }

  /** Usually the system has accepted everything by now. */
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
      needsVerification: context.needsVerification,
    })
    if (status === 500) logger.error({ requestId: context.keptId, err: error }, 'request failed')
    write(context, status, JSON.stringify(body), headers)
  }

  return {
    write,
    succeed(context, data) {
      write(context, 200, JSON.stringify({ data, meta: metaOf(context.id, clock()) }))
    },
    succeedWith(context, json, headers) {
      const meta = JSON.stringify(metaOf(context.id, clock()))
      write(context, 200, `{"data":${json},"meta":${meta}}`, [...commonHeaders(context), ...headers])
    },
    async stream(context, produce, headers = [], { isCompressed = false } = {}) {
      const { id, request, response } = context
      const encoding = isCompressed ? null : preferredOf(request, streamEncodings)
      const begin = () => {
        const list = [...withoutRepeated(commonHeaders(context), headers), ...headers]
        if (!isCompressed) list.push('Vary', 'Accept-Encoding')
        if (encoding !== null) list.push('Content-Encoding', encoding)
        if (closesAfter(request)) list.push('Connection', 'close')
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
          add: (piece) => body.add(piece),
          meta: () => metaOf(id, clock()),
          signal: body.signal,
        })
        await body.end()
        // The headers were sent before the server began to stop, so they did not close the connection.
        if (isClosing()) request.socket.end()
      } catch (error) {
        await body.abandon()
        if (error instanceof ClientGone) return
        if (!response.headersSent) throw error
        logger.error({ requestId: context.keptId, err: error }, 'failed to complete a response')
        response.destroy()
      }
    },
    fail(context, error) {
      if (error instanceof ClientGone) return
      try {
        writeFailure(context, error)
      } catch (cause) {
        logger.error({ requestId: context.keptId, err: cause }, 'failed to send an error response')
        context.response.destroy()
      }
    },
  }
}

interface FailureContext {
  requestId: string
  now: Instant
  budget: BudgetState | null
  counted: readonly CountedBudget[]
  /** Whether the client sent a credential. */
  hasCredential: boolean
  /** Whether it is a request of the console, which does not use keys. */
  isConsole?: boolean
  /** The scope that the route requires. */
  scope?: string | null
  /** The methods that the path supports, if the method is the problem. */
  allow?: string | null
  /** Whether the member must prove their identity again. */
  needsVerification?: boolean
}

/** The response to a failed request. Only a `LetheError` reveals its cause. */
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
  if (context.needsVerification) {
    headers.push('WWW-Authenticate', stepUp)
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

/** As in RFC 9470. */
const stepUp = `Bearer error="insufficient_user_authentication", max_age="${recentSignInMs / 1_000}"`

/** Above this number of unread bytes, streamed responses are spooled to disk. */
const maxSpoolMemoryBytes = maxUnreadBytes / 2

/** Longer responses are compressed. */
const minCompressedBytes = 1_024
/** Up to this size, such as a receipt, compression takes less than a trip to a thread and back. */
const maxPackedAtOnceBytes = 4_096

/**
 * Whether data after this request cannot be trusted: Node drops data after an upgrade request, and HTTP/1.0
 * has no chunks, so a proxy may have seen another end of the body.
 */
function isLastRequest({ headers, httpVersionMinor }: IncomingMessage): boolean {
  return (
    headers.upgrade !== undefined || (httpVersionMinor === 0 && headers['transfer-encoding'] !== undefined)
  )
}

let lastInstant: Instant = 0
let lastTimestamp = formatInstant(0)

/** The `meta` of an envelope. The timestamp is cached, because formatting it is expensive. */
function metaOf(requestId: string, now: Instant): FailureBody['meta'] {
  if (now !== lastInstant) {
    lastInstant = now
    lastTimestamp = formatInstant(now)
  }
  return { requestId, timestamp: lastTimestamp }
}
