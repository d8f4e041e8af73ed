import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Logger } from 'pino'
import { type ApiBudgetName, type Budget, budgetSpent, type Limiter } from '../domain/budget.ts'
import { LetheError } from '../domain/errors.ts'
import type { Clock } from '../domain/instant.ts'
import type { Randomness } from '../domain/randomness.ts'
import { addressBucketKey } from './client-address.ts'
import type { Connections } from './connections.ts'
import { cutOffBody } from './request-body.ts'
import type { HeaderList } from './request-context.ts'
import { failure } from './response.ts'

interface ParserErrorDeps {
  connections: Connections
  logger: Logger
  clock: Clock
  randomness: Randomness
  limiter: Pick<Limiter, 'take'>
  budgets: Record<ApiBudgetName, Budget>
  onAnswered?(route: null, method: null, status: number, durationMs: number): void
}

/** An error of Node's HTTP parser. */
type ParserError = Error & { code?: string }

const messages: Record<string, string> = {
  HPE_HEADER_OVERFLOW: 'The request headers are too large.',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request took too long to arrive.',
  HPE_INVALID_METHOD: 'The request method is not a valid HTTP method.',
  HPE_PAUSED_H2_UPGRADE: 'This server supports HTTP/1.1, not HTTP/2.',
}

/**
 * Responds to data that the HTTP parser refuses, headers that are too large, and timeouts. Each counts
 * against its address, has a request ID, and gets a response in the usual envelope.
 */
export function parserErrors(deps: ParserErrorDeps) {
  async function answer(socket: Duplex & { remoteAddress?: string }, message: string): Promise<void> {
    const startedAt = performance.now()
    const requestId = deps.randomness.uuid()
    const peer = socket.remoteAddress ?? ''
    const budget = await deps.limiter.take(deps.budgets.ip, addressBucketKey(peer) ?? 'unknown')
    const error = budget.granted ? new LetheError('invalid_request', message) : budgetSpent(deps.budgets.ip)
    const now = deps.clock()
    const { status, headers, body } = failure(error, {
      requestId,
      now,
      budget,
      counted: [{ budget: deps.budgets.ip, state: budget }],
      hasCredential: false,
    })
    const payload = Buffer.from(JSON.stringify(body))
    headers.push('Content-Length', payload.length, 'Date', new Date(now).toUTCString())
    deps.logger.info({ requestId, method: null, route: null, status, keyId: null }, 'request')
    deps.onAnswered?.(null, null, status, performance.now() - startedAt)
    if (socket.writable) socket.end(http1Response(status, headers, payload))
  }

  function onClientError(error: ParserError, socket: Duplex & { bytesRead?: number }): void {
    // A browser that opened a connection in advance would take a response for the one to its first request.
    if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesRead === 0) {
      socket.destroy()
      return
    }
    const message = messages[error.code ?? ''] ?? 'This is not a well-formed HTTP request.'
    const respond = () => answer(socket, message).catch(() => socket.destroy())
    const current = deps.connections.latest(socket)
    if (!current || current.request.complete) afterResponses(socket, respond)
    else if (current.response.headersSent) socket.destroy()
    else {
      // A request with a malformed body gets its own response, the last on its connection.
      current.response.setHeader('Connection', 'close')
      cutOffBody(current.request, message)
    }
  }

  function onConnect(_request: IncomingMessage, socket: Duplex): void {
    // Node no longer handles the socket, and an unhandled error would end the process.
    socket.on('error', () => socket.destroy())
    afterResponses(socket, () => {
      answer(socket, 'This server is not a proxy and does not support CONNECT.').catch(() => socket.destroy())
    })
  }

  /** Earlier requests on the connection get their responses first. */
  function afterResponses(socket: Duplex, respond: () => void): void {
    const latest = deps.connections.latest(socket)
    if (!latest || latest.response.writableFinished) respond()
    else latest.response.once('close', respond)
  }

  return { onClientError, onConnect }
}

function http1Response(status: number, headers: HeaderList, body: Buffer): Buffer {
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`]
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`)
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`), body])
}

/** An `import` of node:http would also load Node's web APIs, which takes a tenth of the start. */
export const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http')
