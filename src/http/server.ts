import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Limiter } from '../domain/budget.ts'
import { withoutCredentials } from '../domain/credential.ts'
import { andThen } from '../domain/maybe-promise.ts'
import { passwordQueue } from '../operations/sign-in.ts'
import { apiRoutes } from './api/routes.ts'
import { clientAddress, originPolicy } from './client-address.ts'
import { Connections, connectionsWithin, systemLimits } from './connections.ts'
import { pageRoutes } from './console/pages.ts'
import { consoleRoutes } from './console/routes.ts'
import { signInTools } from './console/sign-in-tools.ts'
import { Listeners } from './listeners.ts'
import { createServer, parserErrors } from './parser-errors.ts'
import { type PipelineDeps, pipelines } from './pipeline.ts'
import { documentationRoutes, probeRoutes } from './public-routes.ts'
import { requestBatches } from './request-batches.ts'
import {
  chosenRequestId,
  type Installation,
  RequestContext,
  readBearerToken,
  type SingleSignOn,
} from './request-context.ts'
import { isKeepable, requestLog, type ServerLog } from './request-log.ts'
import { responder } from './response.ts'
import { buildRouter } from './router.ts'
import { requireSpoolFolder } from './spool.ts'
import { variableRoutes } from './variables/routes.ts'

export interface ServerDeps extends Omit<PipelineDeps, 'http' | 'limiter' | 'addressOf' | 'originPolicy'> {
  installation: Installation
  singleSignOn: SingleSignOn | null
  limiter: Omit<Limiter, 'close'>
  /** The proxies whose forwarded headers are trusted. */
  trustedProxies: readonly string[]
  /** The address that clients use; `null` if it is not configured. */
  publicUrl: string | null
  log: ServerLog
  wakeRequests(): void
  /** The management API with the console, the Variables API, or all of them. */
  serves: 'all' | 'management' | 'variables'
  /** Above this number, or the limit of the system, an idle connection is closed for each new one. */
  maxConnections: number
  /** The folder for streamed responses that wait for slow clients. */
  spoolFolder: string | null
  /**
   * Called at the end of every request: with the pattern of its path, or null if the caller is not
   * authenticated; its method, or null if the path does not support it; and its status, 0 if the client left
   * before a response.
   */
  onAnswered?(route: string | null, method: string | null, status: number, durationMs: number): void
}

export interface LetheServer {
  /** Resolves with the port when the server listens. */
  listen(host: string, port: number): Promise<number>
  /** Stops accepting connections and resolves when the running requests have finished. */
  close(): Promise<void>
}

/**
 * The maximum size of request line and headers: enough for two IDs of 256 four-byte characters and a cursor.
 */
const maxHeaderBytes = 16 * 1024

export const serverTimeouts = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 75_000,
  connectionsCheckingInterval: 2_000,
}

export function buildServer(options: ServerDeps): LetheServer {
  const { services, limiter, log, onAnswered, publicUrl, trustedProxies, spoolFolder, serves, traces } =
    options
  const deps = {
    ...options,
    addressOf: clientAddress(trustedProxies),
    originPolicy: originPolicy(publicUrl, trustedProxies),
  }
  const { logger } = log
  const { clock, randomness } = services
  let isClosing = false
  const addToBatch = requestBatches(runBatch)
  const logRequest = requestLog(log, clock)
  const respond = responder({
    clock,
    randomness,
    logger,
    isClosing: () => isClosing,
    onUnread: (context, bytes) => connections.addUnread(context, bytes),
    unreadBytes: () => connections.unreadBytes,
    spoolFolder,
  })
  const http = {
    respond,
    passwords: passwordQueue(randomness),
    ...signInTools(deps),
    installation: deps.installation,
    singleSignOn: deps.singleSignOn,
    wakeRequests: deps.wakeRequests,
    serviceUrl: ({ request }: RequestContext) => deps.originPolicy.serviceUrl(request),
  }
  const runPipeline = pipelines({ ...deps, http })
  const matchRoute = buildRouter(
    [
      ...probeRoutes(limiter),
      ...(serves === 'variables'
        ? []
        : [...apiRoutes, ...documentationRoutes(deps, deps.originPolicy), ...pageRoutes(), ...consoleRoutes]),
      ...(serves === 'management' ? [] : variableRoutes(deps, deps.originPolicy)),
    ],
    maxHeaderBytes,
    serves === 'variables' ? 'token' : 'key',
  )

  const server = createServer({
    requireHostHeader: false,
    maxHeaderSize: maxHeaderBytes,
    ...serverTimeouts,
  })
  const allowed = connectionsWithin(options.maxConnections, systemLimits(), serves === 'all' ? 1 : 2)
  const listeners = new Listeners(server, allowed.listeners)
  const connections = new Connections(server, allowed.maxConnections)
  const { onClientError, onConnect } = parserErrors({ ...deps, logger, clock, randomness, connections })
  server.on('request', enter)
  // Node would respond to these itself, without an envelope.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  server.on('checkContinue', (request, response) => {
    // On a pipelined request, Node would write it into the middle of an earlier response.
    if (response.socket) response.writeContinue()
    server.emit('request', request, response)
  })
  server.on('clientError', onClientError)
  server.on('connect', onConnect)

  return {
    async listen(host, port) {
      if (spoolFolder !== null) await requireSpoolFolder(spoolFolder, randomness)
      return listeners.listen(host, port)
    },
    async close() {
      isClosing = true
      const closed = listeners.close()
      connections.closeIdle()
      await closed
    },
  }

  function enter(request: IncomingMessage, response: ServerResponse): void {
    if (!connections.begin({ request, response })) return
    const chosen = chosenRequestId(request)
    const chosenId = chosen === null || chosen === 'unusable' ? null : chosen.id
    const id = chosenId ?? randomness.uuid()
    const match = matchRoute(request.method ?? '', request.url ?? '')
    const context = new RequestContext(id, chosen, request, response, match)
    traces?.begin(context)
    if (id === chosenId) context.keptId = isKeepable(context) ? withoutCredentials(id) : randomness.uuid()
    response.on('close', () => leave(context))
    addToBatch(context)
  }

  function leave(context: RequestContext): void {
    connections.end(context)
    traces?.end(context)
    logRequest(context)
    if (onAnswered === undefined) return
    const { match, request, response, startedAt } = context
    const status = response.headersSent ? response.statusCode : 0
    const method = match.kind === 'other-method' ? null : (request.method ?? null)
    onAnswered(isStranger(context) ? null : match.path, method, status, performance.now() - startedAt)
  }

  function runBatch(contexts: readonly RequestContext[]): void {
    let begun = 0
    try {
      services.batchReads(() => {
        for (const context of contexts) {
          begun += 1
          run(context)
        }
      })
    } catch (error) {
      // Requests that have started send their own responses: an erasure among them may have been committed.
      logger.error({ err: error }, 'reading for a batch of requests failed')
      for (const context of contexts.slice(begun)) respond.fail(context, error)
    }
  }

  /** Counts a refusal for the key's page. An address's budget refuses before the key is known. */
  function noteRefusal({ caller, match, request }: RequestContext): void {
    const keyString = match.pipeline === 'key' ? readBearerToken(request.headers.authorization) : undefined
    if (caller) deps.noteKeyRefusal(caller.key.id)
    else if (keyString !== undefined) deps.noteRefusedString(keyString)
  }

  function run(context: RequestContext): void {
    try {
      const done = andThen(runPipeline(context), (refusal) => {
        if (refusal === null) return
        if (refusal.code === 'rate_limited' || refusal.code === 'forbidden') noteRefusal(context)
        respond.fail(context, refusal)
      })
      if (done instanceof Promise) done.catch((error) => respond.fail(context, error))
    } catch (error) {
      respond.fail(context, error)
    }
  }
}

/** Whether the path requires authentication and the caller has none. Such paths are not recorded. */
function isStranger({ match, owner }: RequestContext): boolean {
  const isPublic = match.pipeline === 'public' || (match.pipeline === 'open' && match.kind === 'route')
  return !isPublic && owner === null
}
