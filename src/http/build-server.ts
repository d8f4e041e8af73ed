import { METHODS } from 'node:http'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { LetheError } from '../domain/errors.ts'
import { type Eventually, then } from '../domain/eventually.ts'
import type { Randomness } from '../domain/randomness.ts'
import { answerWriter } from './answer.ts'
import { Connections } from './connections.ts'
import { parserErrors } from './parser-errors.ts'
import { publicPaths, registerPublicRoutes } from './public-routes.ts'
import { chosenRequestId } from './request-id.ts'
import { requestLog } from './request-log.ts'
import { callerOf, type Destination, requestWay, Visit, type WayParts } from './request-way.ts'
import type { ApiRoute } from './route.ts'
import { apiRoutes } from './routes/index.ts'

declare module 'fastify' {
  interface FastifyRequest {
    visit: Visit
  }
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
  let arrived: (() => void)[] = []
  const walkWay = requestWay(parts)
  const logRequest = requestLog(logger)
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
      enter(request, reply, { isBroken: true }, (error) => answer.fail(request.visit, error))
    },
  })
  const connections = new Connections(app.server)
  app.server.on('connect', onConnect)
  // Node would answer these itself, without an envelope.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))

  app.decorateRequest('visit')
  app.addHook('onRoute', requireScopeOrPublic)
  app.addHook('onRequest', (request, reply, done) => enter(request, reply, request.routeOptions.config, done))
  app.addHook('preClose', async () => {
    isClosing = true
    connections.endQuiet()
  })
  app.setErrorHandler((error, { visit }) => answer.fail(visit, error))
  app.setNotFoundHandler(({ visit }) => answer.fail(visit, new LetheError('not_found', '')))

  // No operation has a body: the request's way reads whatever comes and forgets it.
  for (const method of METHODS) app.addHttpMethod(method, { hasBody: false, overrideExisting: true })
  for (const route of apiRoutes) registerRoute(route)
  registerPublicRoutes(app, services, answer)
  registerOtherMethods(app)
  return app

  function enter(
    request: FastifyRequest,
    reply: FastifyReply,
    destination: Destination,
    done: (error?: Error) => void,
  ): void {
    const visit = new Visit(request, reply, destination)
    request.visit = visit
    reply.raw.once('close', () => logRequest(visit))
    if (arrived.push(() => go(visit, done)) === 1) setImmediate(goOn)
  }

  /**
   * Requests that came with the same turn of the event loop go their way together, one behind the other: what they read, they
   * read at one moment after all of them came, and their clients are woken once for many answers.
   */
  function goOn(): void {
    const together = arrived
    arrived = []
    services.together(() => {
      for (const go of together) go()
    })
  }

  function go(visit: Visit, done: (error?: Error) => void): void {
    let walked: Eventually<void>
    try {
      walked = walkWay(visit)
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)))
      return
    }
    if (walked instanceof Promise) walked.then(() => done(), done)
    else done()
  }

  function registerRoute(route: ApiRoute): void {
    app.route({
      method: route.method,
      url: fastifyPath(route.path),
      config: { route, path: route.path },
      handler: ({ visit }) => {
        if (!visit.operation) throw new Error('A request reached its handler without having come its way.')
        return then(visit.operation(services, callerOf(visit)), (data) => answer.succeed(visit, data))
      },
    })
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

/** Lets every known path answer the methods it does not have with those it has. */
function registerOtherMethods(app: FastifyInstance): void {
  const known = new Map<string, string[]>(publicPaths.map((path) => [path, ['GET', 'HEAD']]))
  for (const { path, method } of apiRoutes) {
    const methods = known.get(fastifyPath(path)) ?? []
    known.set(fastifyPath(path), [...methods, ...(method === 'GET' ? ['GET', 'HEAD'] : [method])])
  }
  for (const [url, methods] of known) {
    const others = METHODS.filter((method) => !methods.includes(method))
    const handler = () => {
      throw new Error('A request reached the handler of a method its path does not have.')
    }
    app.route({ method: others, url, config: { allow: methods.join(', '), path: bracedPath(url) }, handler })
  }
}
