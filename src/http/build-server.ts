import { METHODS } from 'node:http'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { type Eventually, then } from '../domain/eventually.ts'
import type { Randomness } from '../domain/randomness.ts'
import { answerWriter } from './answer.ts'
import { Connections } from './connections.ts'
import { parserErrors } from './parser-errors.ts'
import { publicPaths, publicRoutes } from './public-routes.ts'
import { chosenRequestId } from './request-id.ts'
import { requestLog } from './request-log.ts'
import { callerOf, type Destination, requestWay, Visit, type WayParts } from './request-way.ts'
import { apiRoutes } from './routes/index.ts'

declare module 'fastify' {
  interface FastifyContextConfig extends Destination {}
}

export interface ServerParts extends WayParts {
  logger: Logger
  randomness: Randomness
}

/** Builds the HTTP side of the service, ready to listen. */
export function buildServer(parts: ServerParts): FastifyInstance {
  const { services, randomness, logger } = parts
  const { clock } = services
  let isClosing = false
  let arrived: Visit[] = []
  const walkWay = requestWay(parts)
  const logRequest = requestLog(logger, clock)
  const answer = answerWriter({ clock, logger, isClosing: () => isClosing })
  const { onClientError, onConnect } = parserErrors({ ...parts, clock, connections: () => connections })

  const app: FastifyInstance = fastify({
    // Fastify's own lines would hold raw URLs; what is logged stands in request-log.ts.
    logger: false,
    genReqId: (request) => {
      const chosen = chosenRequestId(request)
      return chosen === null || chosen === 'unusable' ? randomness.uuid() : chosen.id
    },
    // The request's way reads the query itself, at its turn.
    routerOptions: { maxParamLength: maxHeaderBytes, querystringParser: () => ({}) },
    // A request that comes while the server closes is still answered.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    http: {
      requireHostHeader: false,
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: 10_000,
      connectionsCheckingInterval: 2_000,
    },
    requestTimeout: 30_000,
    keepAliveTimeout: 75_000,
    clientErrorHandler: onClientError,
    // Broken percent-encoding in a path: no route, no hooks, but the same way.
    frameworkErrors: (_error, request, reply) => {
      enter(request, reply, { isBroken: true })
    },
  })
  const connections = new Connections(app.server)
  app.server.on('connect', onConnect)
  // Node would answer these itself, without an envelope.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))

  app.addHook('onRoute', requireScopeOrPublic)
  // Never calls back: from here on a request goes its own way, and is answered by it.
  app.addHook('onRequest', (request, reply) => enter(request, reply, request.routeOptions.config))
  app.addHook('preClose', async () => {
    isClosing = true
    connections.endQuiet()
  })

  // No operation has a body: the request's way reads whatever comes and forgets it.
  for (const method of METHODS) app.addHttpMethod(method, { hasBody: false, overrideExisting: true })
  for (const route of apiRoutes) {
    register(route.method, fastifyPath(route.path), { route, path: route.path, respond: runOperation })
  }
  for (const { path, respond } of publicRoutes(services, answer)) {
    register('GET', path, { isPublic: true, path, respond })
  }
  for (const [path, { allow, others }] of otherMethods()) {
    register(others, path, { allow, path: bracedPath(path) })
  }
  return app

  /** Fastify is told of a path for the sake of its router; nothing ever reaches the handler. */
  function register(method: string | string[], url: string, config: Destination): void {
    const handler = () => {
      throw new Error('A request left its way.')
    }
    app.route({ method, url, config, handler })
  }

  function enter(request: FastifyRequest, reply: FastifyReply, destination: Destination): void {
    const visit = new Visit(request, reply, destination)
    reply.hijack()
    reply.raw.on('close', () => logRequest(visit))
    if (arrived.push(visit) === 1) setImmediate(goOn)
  }

  /**
   * Requests that came with the same turn of the event loop go their way together, one behind the other: what they read, they
   * read at one moment after all of them came, and their clients are woken once for many answers.
   */
  function goOn(): void {
    const together = arrived
    arrived = []
    try {
      services.together(() => {
        for (const visit of together) go(visit)
      })
    } catch (error) {
      for (const visit of together) if (!visit.reply.raw.headersSent) answer.fail(visit, error)
    }
  }

  function go(visit: Visit): void {
    try {
      const answered = then(walkWay(visit), () => visit.destination.respond?.(visit))
      if (answered instanceof Promise) answered.catch((error) => answer.fail(visit, error))
    } catch (error) {
      answer.fail(visit, error)
    }
  }

  function runOperation(visit: Visit): Eventually<void> {
    if (!visit.operation) throw new Error('A request came to its operation without parameters.')
    return then(visit.operation(services, callerOf(visit)), (data) => answer.succeed(visit, data))
  }
}

/** The most a request line and its headers may take: two ids of 256 four-byte characters and a cursor fit easily. */
const maxHeaderBytes = 16 * 1024

function fastifyPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1')
}

function bracedPath(url: string): string {
  return url.replaceAll(/:(\w+)/g, '{$1}')
}

/** Default deny: a route has a scope, or a place on the list of public ones, or the service does not start. */
function requireScopeOrPublic({ url, config }: { url: string; config?: Destination }): void {
  if (config?.route?.scope || config?.allow) return
  if (!config?.isPublic || !publicPaths.includes(url))
    throw new Error(`The route ${url} has no scope and is not public.`)
}

/** For every known path, the methods it has and all it does not have, which it answers with those it has. */
function otherMethods(): Map<string, { allow: string; others: string[] }> {
  const known = new Map<string, string[]>(publicPaths.map((path) => [path, ['GET', 'HEAD']]))
  for (const { path, method } of apiRoutes) {
    const methods = known.get(fastifyPath(path)) ?? []
    known.set(fastifyPath(path), [...methods, ...(method === 'GET' ? ['GET', 'HEAD'] : [method])])
  }
  return new Map(
    Array.from(known, ([path, methods]) => [
      path,
      { allow: methods.join(', '), others: METHODS.filter((method) => !methods.includes(method)) },
    ]),
  )
}
