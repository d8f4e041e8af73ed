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

/** What Node tells of bytes that its parser refuses. */
type ParserError = Error & { code?: string }

const messages: Record<string, string> = {
  HPE_HEADER_OVERFLOW: 'The request headers are too large.',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request took too long to arrive.',
  HPE_INVALID_METHOD: 'The request method is not one of HTTP.',
  HPE_PAUSED_H2_UPGRADE: 'This server speaks HTTP/1.1, not HTTP/2.',
}

/**
 * Answers what never becomes a request: lines the HTTP parser refuses, headers over the limit, time-outs. Each counts against its
 * address, has an id, and is answered in the envelope like everything else.
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
    if (socket.writable) socket.end(http1Answer(status, headers, payload))
  }

  function onClientError(error: ParserError, socket: Duplex & { bytesRead?: number }): void {
    // Browsers open connections ahead of need: on one that asked for nothing an answer would be taken for that to its first request.
    if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesRead === 0) {
      socket.destroy()
      return
    }
    const message = messages[error.code ?? ''] ?? 'This is not a well-formed HTTP request.'
    const respond = () => answer(socket, message).catch(() => socket.destroy())
    const current = deps.connections.latest(socket)
    if (!current || current.request.complete) afterAnswers(socket, respond)
    else if (current.response.headersSent) socket.destroy()
    else {
      // A request whose own body is bad answers for itself, and is the last on its connection.
      current.response.setHeader('Connection', 'close')
      cutOffBody(current.request, message)
    }
  }

  function onConnect(_request: IncomingMessage, socket: Duplex): void {
    // Node has let go of the socket, and an error that nobody listens for would end the process.
    socket.on('error', () => socket.destroy())
    afterAnswers(socket, () => {
      answer(socket, 'This server is no proxy: it does not take CONNECT.').catch(() => socket.destroy())
    })
  }

  /** Whole requests that came before get their answers first. */
  function afterAnswers(socket: Duplex, respond: () => void): void {
    const latest = deps.connections.latest(socket)
    if (!latest || latest.response.writableFinished) respond()
    else latest.response.once('close', respond)
  }

  return { onClientError, onConnect }
}

function http1Answer(status: number, headers: HeaderList, body: Buffer): Buffer {
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`]
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`)
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`), body])
}

/** Node's HTTP server. An `import` of the module would load its client for browsers' APIs too, a tenth of the time to start. */
export const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http')
