import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ApiKey, Caller } from '../domain/api-key.ts'
import { type Budget, type BudgetState, budgetSpent, type Limiter, tightest } from '../domain/budget.ts'
import { LetheError } from '../domain/errors.ts'
import { type Steps, wait } from '../domain/eventually.ts'
import { authenticateKey } from '../operations/authenticate-key.ts'
import type { clientAddress } from './client-address.ts'
import { setBudgetHeaders, setCommonHeaders } from './headers.ts'
import { parseQueryString, queryOf } from './query-string.ts'
import { discardBody } from './request-body.ts'
import { chosenRequestId } from './request-id.ts'
import type { ApiRoute, Operation, PathValues, Services } from './route.ts'

/** What is learnt of a request on its way. */
export class Visit {
  readonly startedAt = performance.now()
  /** The pattern of its path, never the path itself. */
  readonly path: string | null
  caller: Caller | null = null
  /** The budget its client should mind; on a 429 the one that refused. */
  budget: BudgetState | null = null
  operation: Operation | null = null

  constructor({ path }: Destination) {
    this.path = path ?? null
  }
}

/** Where a request leads: to an operation, to a public page, to a path that takes other methods, to a broken URL, or nowhere. */
export interface Destination {
  /** The pattern of the path, with its parameters in braces. */
  path?: string
  route?: ApiRoute
  isPublic?: true
  allow?: string
  isBroken?: true
}

export interface WayParts {
  services: Services
  limiter: Limiter
  budgets: Record<Budget['name'], Budget>
  addressOf: ReturnType<typeof clientAddress>
  noteKeyUse(keyId: string): void
}

/** The way of every request, from its id to its operation. Each step can end it; the steps after it then have not happened. */
export function requestWay(parts: WayParts) {
  return function* way(request: FastifyRequest, reply: FastifyReply, destination: Destination): Steps<void> {
    // 1. The request id, which Fastify was given when the request came.
    setCommonHeaders(reply, request.id)
    if (destination.isPublic) {
      requireSoundRequest(request)
      yield* wait(discardBody(request.raw))
      return
    }
    const { visit } = request
    try {
      // 2. The address's budget. What no request may be is refused behind it, so that it has counted.
      yield* spend(parts.budgets.ip, parts.addressOf(request.raw), visit)
      requireSoundRequest(request)
      // 3. The key.
      const caller = yield* authenticate(request)
      visit.caller = caller
      const { key } = caller
      // 4. The key's budget.
      yield* spend(parts.budgets.key, key.id, visit)
      // 5. The route.
      const route = findRoute(request, reply, destination)
      // 6. The route's scope.
      requireScope(key, route)
      // 7. The erasure budget.
      if (route.isErasure) yield* spend(parts.budgets.erasure, key.id, visit)
      // 8. The parameters.
      yield* wait(discardBody(request.raw))
      visit.operation = route.prepare(pathValues(request.params), parseQueryString(queryOf(request.raw.url)))
      // 9. The operation is run by the route's handler, in build-server.ts.
    } finally {
      setBudgetHeaders(reply, visit.budget)
    }
  }

  function* spend(budget: Budget, holder: string, visit: Visit): Steps<void> {
    const state = yield* wait(parts.limiter.take(budget, holder))
    visit.budget = state.granted ? tightest(visit.budget, state) : state
    if (!state.granted) throw budgetSpent(budget)
  }

  function* authenticate(request: FastifyRequest): Steps<Caller> {
    const { authorization } = request.headers
    if (authorization === undefined) {
      throw new LetheError(
        'unauthorized',
        'No API key was sent. Send it in the header Authorization: Bearer <API_KEY>.',
      )
    }
    const keyString = /^Bearer +(\S+)$/i.exec(authorization)?.[1]
    const caller = keyString === undefined ? null : yield* wait(authenticateKey(parts.services, keyString))
    if (caller === null) throw new LetheError('unauthorized', 'This is not a valid API key.')
    parts.noteKeyUse(caller.key.id)
    return caller
  }
}

/** What no client may send, whatever it asks for. */
function requireSoundRequest(request: FastifyRequest): void {
  if (chosenRequestId(request.raw) === 'unusable') {
    throw new LetheError('invalid_request', 'X-Request-Id must be 1 to 200 printable ASCII characters.')
  }
  const { httpVersion } = request.raw
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    throw new LetheError('invalid_request', 'This server speaks HTTP/1.1 and HTTP/1.0.')
  }
  if (request.headers.expect !== undefined && request.headers.expect.toLowerCase() !== '100-continue') {
    throw new LetheError('invalid_request', 'The only expectation that can be met is 100-continue.')
  }
  if (httpVersion === '1.1' && request.headers.host === undefined) {
    throw new LetheError('invalid_request', 'An HTTP/1.1 request needs a Host header.')
  }
}

/** Visible ASCII, but for the hash: a fragment is never sent, and taking it for one would cut an id short. */
const soundUrl = /^[\x21\x22\x24-\x7e]+$/

function findRoute(
  request: FastifyRequest,
  reply: FastifyReply,
  { route, allow, isBroken }: Destination,
): ApiRoute {
  if (isBroken || !soundUrl.test(request.raw.url ?? '')) {
    throw new LetheError('invalid_request', 'The percent-encoding of the path is broken.')
  }
  if (route) return route
  if (allow) {
    reply.header('Allow', allow)
    throw new LetheError('invalid_request', `This path does not take ${request.method}; it takes ${allow}.`)
  }
  throw new LetheError(
    'not_found',
    'There is nothing at this path. See /v1/analytics/openapi.json for what there is.',
  )
}

function requireScope(key: ApiKey, { scope }: ApiRoute): void {
  if (!key.scopes.includes(scope)) {
    throw new LetheError('forbidden', `This API key lacks the scope ${scope}, which this request needs.`)
  }
}

/** The router's parameters, which it has decoded once. */
function pathValues(params: unknown): Partial<PathValues> {
  const { trackerId, subjectId }: { trackerId?: unknown; subjectId?: unknown } = params ?? {}
  return {
    ...(typeof trackerId === 'string' && { trackerId }),
    ...(typeof subjectId === 'string' && { subjectId }),
  }
}
