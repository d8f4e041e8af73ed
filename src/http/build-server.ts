import { METHODS } from 'node:http'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { LetheError } from '../domain/errors.ts'
import { type Eventually, then, walk } from '../domain/eventually.ts'
import type { Randomness } from '../domain/randomness.ts'
import { Connections } from './connections.ts'
import { metaOf } from './envelope.ts'
import { answerFailure } from './failure.ts'
import { parserErrors } from './parser-errors.ts'
import { publicPaths, registerPublicRoutes } from './public-routes.ts'
import { chosenRequestId } from './request-id.ts'
import { requestLog, withoutKeys } from './request-log.ts'
import { type Destination, requestWay, Visit, type WayParts } from './request-way.ts'
import type { ApiRoute } from './route.ts'
import { apiRoutes } from './routes/index.ts'
import { Failure, success } from './schemas/envelope.ts'

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
  const { services, randomness } = parts
  const way = requestWay(parts)
  const logRequest = requestLog(parts.logger)
  let isClosing = false
  const { onClientError, onConnect } = parserErrors({
    ...parts,
    clock: services.clock,
    connections: () => connections,
  })

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
      enter(request, reply, { isBroken: true }, (error) => fail(error, request, reply))
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
  app.setErrorHandler(fail)
  app.setNotFoundHandler((request, reply) => fail(new LetheError('not_found', ''), request, reply))

  // No operation has a body: the request's way reads whatever comes and forgets it.
  for (const method of METHODS) app.addHttpMethod(method, { hasBody: false, overrideExisting: true })
  for (const route of apiRoutes) registerRoute(route)
  registerPublicRoutes(app, services)
  registerOtherMethods(app)
  return app

  function enter(
    request: FastifyRequest,
    reply: FastifyReply,
    destination: Destination,
    done: (error?: Error) => void,
  ): void {
    request.visit = new Visit(destination)
    reply.raw.once('close', () => logRequest(request, reply))
    let walked: Eventually<void>
    try {
      walked = walk(way(request, reply, destination))
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
      schema: { response: { '2xx': success(route.data), default: Failure } },
      handler: (request, reply) => {
        const { operation, caller } = request.visit
        if (!operation || !caller)
          throw new Error('A request reached its handler without having come its way.')
        return then(operation(services, caller), (data) => {
          endConnectionWhenClosing(reply)
          return { data, meta: metaOf(request.id, services.clock()) }
        })
      },
    })
  }

  /** A client that kept its connection would keep the service from stopping. */
  function endConnectionWhenClosing(reply: FastifyReply): void {
    if (isClosing) reply.header('Connection', 'close')
  }

  function fail(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    endConnectionWhenClosing(reply)
    const { visit } = request
    const answer = answerFailure(error, {
      requestId: request.id,
      now: services.clock(),
      budget: visit.budget,
      hasCredential: request.headers.authorization !== undefined,
      route: request.routeOptions.config?.route ?? null,
    })
    if (answer.status === 500)
      parts.logger.error({ requestId: withoutKeys(request.id), err: error }, 'request failed')
    reply
      .status(answer.status)
      .headers(answer.headers)
      .type('application/json; charset=utf-8')
      .send(answer.body)
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
