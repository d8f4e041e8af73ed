import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Eventually, then } from '../domain/eventually.ts'
import { type AnswerWriter, answerWriter } from './answer.ts'
import { Connections } from './connections.ts'
import { createServer } from './node-http.ts'
import { parserErrors } from './parser-errors.ts'
import { publicRoutes } from './public-routes.ts'
import { chosenRequestId } from './request-id.ts'
import { requestLog, type ServerLog } from './request-log.ts'
import { callerOf, Moment, requestWay, Visit, type WayParts } from './request-way.ts'
import { buildRouter, type Entry, withHead } from './router.ts'
import { apiRoutes } from './routes/index.ts'

export interface ServerParts extends WayParts {
  log: ServerLog
  /** Beyond so many connections, one on which nothing is done gives way to the next. */
  maxConnections: number
  /** Told of every request that is over: the pattern of its path, its method, its status (0 when its client left without an answer). */
  onAnswered?(route: string | null, method: string | null, status: number, durationMs: number): void
  /** Paths beside the API's, with ways of their own: the console. */
  annex?(answer: AnswerWriter): readonly Entry[]
}

export interface LetheServer {
  /** Resolves with the port once it listens. */
  listen(host: string, port: number): Promise<number>
  /** No new connections; resolves when the requests that are under way have been answered. */
  close(): Promise<void>
}

/** The most a request line and its headers may take: two ids of 256 four-byte characters and a cursor fit easily. */
const maxHeaderBytes = 16 * 1024

/** How long a client may take. */
export const serverTimeouts = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 75_000,
  connectionsCheckingInterval: 2_000,
}

/** Of more than this the first are answered while the last still come. */
const mostTogether = 16

/** Builds the HTTP side of the service, ready to listen. */
export function buildServer(parts: ServerParts): LetheServer {
  const { services, log, onAnswered } = parts
  const { logger } = log
  const { clock, randomness } = services
  let isClosing = false
  let arrived: Visit[] = []
  let moment = new Moment()
  const walkWay = requestWay(parts)
  const logRequest = requestLog(log, clock)
  const answer = answerWriter({
    clock,
    logger,
    isClosing: () => isClosing,
    onSend: (visit, bytes) => connections.send(visit, bytes),
  })
  const findDestination = buildRouter(entries(), maxHeaderBytes)

  const server = createServer({
    requireHostHeader: false,
    maxHeaderSize: maxHeaderBytes,
    ...serverTimeouts,
  })
  const connections = new Connections(server, parts.maxConnections)
  const { onClientError, onConnect } = parserErrors({ ...parts, logger, clock, randomness, connections })
  server.on('request', enter)
  // Node would answer these itself, without an envelope.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  server.on('checkContinue', (request, response) => {
    // Node would put it into the middle of an answer that has to wait for its turn.
    if (response.socket) response.writeContinue()
    server.emit('request', request, response)
  })
  server.on('clientError', onClientError)
  server.on('connect', onConnect)

  return {
    async listen(host, port) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      server.once('error', reject)
      server.listen({ host, port }, () => {
        server.off('error', reject)
        resolve()
      })
      await promise
      const address = server.address()
      return typeof address === 'object' && address !== null ? address.port : port
    },
    async close() {
      isClosing = true
      if (!server.listening) return
      const { promise, resolve } = Promise.withResolvers<void>()
      server.close(() => resolve())
      connections.endQuiet()
      await promise
    },
  }

  /** Every path: the API's, the public ones, and what is beside them. */
  function entries(): Entry[] {
    return [
      ...apiRoutes.map((route) => ({
        methods: withHead(route.method),
        path: route.path,
        destination: { route, path: route.path, respond: runOperation },
      })),
      ...publicRoutes(parts, answer).map(({ path, respond }) => ({
        methods: withHead('GET'),
        path,
        destination: { isPublic: true as const, path, respond },
      })),
      ...(parts.annex?.(answer) ?? []),
    ]
  }

  function enter(request: IncomingMessage, response: ServerResponse): void {
    if (!connections.begin({ request, response })) return
    const chosen = chosenRequestId(request)
    const id = chosen === null || chosen === 'unusable' ? randomness.uuid() : chosen.id
    const { destination, params } = findDestination(request.method ?? '', request.url ?? '')
    if (arrived.length === 0) {
      moment = new Moment()
      setImmediate(goOn)
    }
    const visit = new Visit(id, chosen, request, response, destination, params, moment)
    response.on('close', () => leave(visit))
    if (arrived.push(visit) === mostTogether) goOn()
  }

  function leave(visit: Visit): void {
    connections.end(visit)
    logRequest(visit)
    if (onAnswered === undefined) return
    const { destination, request, response, startedAt } = visit
    const status = response.headersSent ? response.statusCode : 0
    onAnswered(destination.path ?? null, request.method ?? null, status, performance.now() - startedAt)
  }

  /**
   * Requests that came with the same turn of the event loop go their way together, one behind the other: what they read, they
   * read at one moment after all of them came, and their clients are woken once for many answers.
   */
  function goOn(): void {
    const together = arrived
    arrived = []
    if (together.length === 0) return
    let begun = 0
    try {
      services.together(() => {
        for (const visit of together) {
          begun += 1
          go(visit)
        }
      })
    } catch (error) {
      // Whoever has begun answers for itself: an erasure among them may have been committed.
      logger.error({ err: error }, 'reading for requests that came together failed')
      for (const visit of together.slice(begun)) answer.fail(visit, error)
    }
  }

  function go(visit: Visit): void {
    try {
      const answered = then(walkWay(visit), (refusal) =>
        refusal === null ? visit.destination.respond?.(visit) : answer.fail(visit, refusal),
      )
      if (answered instanceof Promise) answered.catch((error) => answer.fail(visit, error))
    } catch (error) {
      answer.fail(visit, error)
    }
  }

  function runOperation(visit: Visit): Eventually<void> {
    if (!visit.operation) throw new Error('A request came to its operation without parameters.')
    return then(visit.operation(services, callerOf(visit), visit.id), (data) => answer.succeed(visit, data))
  }
}
