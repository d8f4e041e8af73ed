import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Caller } from '../domain/api-key.ts'
import {
  type ApiBudgetName,
  type Asker,
  type Budget,
  type BudgetState,
  budgetSpent,
  type Limiter,
  requestPatienceMs,
  tightest,
} from '../domain/budget.ts'
import { LetheError } from '../domain/errors.ts'
import { type Eventually, then, walk } from '../domain/eventually.ts'
import { authenticateKey } from '../operations/authenticate-key.ts'
import type { clientAddress } from './client-address.ts'
import { parseQueryString, queryOf } from './query-string.ts'
import { discardBody } from './request-body.ts'
import type { ChosenRequestId } from './request-id.ts'
import type { ApiRoute, Operation, Services } from './route.ts'
import type { PathParameters } from './router.ts'

/** A request on its way, and what is learnt of it. */
export class Visit implements Asker {
  readonly startedAt = performance.now()
  readonly id: string
  readonly chosenId: ChosenRequestId
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly destination: Destination
  readonly params: PathParameters
  readonly moment: Moment
  caller: Caller | null = null
  /** Who makes it, where it is a member at the console. */
  memberId: string | null = null
  /** The budget its client should mind; on a 429 the one that refused. */
  budget: BudgetState | null = null
  patienceMs = requestPatienceMs
  operation: Operation | null = null
  /** How many bytes of its answer its client is yet to take. */
  unreadBytes = 0
  /** The methods its path takes, when its own is not among them. */
  allow: string | null = null

  constructor(
    id: string,
    chosenId: ChosenRequestId,
    request: IncomingMessage,
    response: ServerResponse,
    destination: Destination,
    params: PathParameters,
    moment: Moment,
  ) {
    this.id = id
    this.chosenId = chosenId
    this.request = request
    this.response = response
    this.destination = destination
    this.params = params
    this.moment = moment
  }
}

/** What requests that came together share: a key string means the same to all of them, and is forgotten with them. */
export class Moment {
  readonly callers = new Map<string, Eventually<Caller | null>>()
}

/** Where a request leads: to an operation, to a public page, to a path that takes other methods, to a broken URL, or nowhere. */
export interface Destination {
  /** The pattern of the path, with its parameters in braces; never the path itself. */
  path?: string
  route?: ApiRoute
  isPublic?: true
  /** Only for members who are signed in to the console; its own way sees to that. */
  needsMember?: true
  /** A way of its own in the place of the usual one. */
  way?: readonly Step[]
  allow?: string
  isBroken?: true
  /** What is left to do at the end of the way. */
  respond?(visit: Visit): Eventually<void>
}

export interface WayParts {
  services: Services
  limiter: Pick<Limiter, 'take' | 'isReachable'>
  budgets: Record<ApiBudgetName, Budget>
  addressOf: ReturnType<typeof clientAddress>
  noteKeyUse(keyId: string): void
}

/** Hands back why a request may go no further, or `null`. */
export type Step = (visit: Visit) => Eventually<LetheError | null>

/** The way of every request, from its id to its operation. Each step can end it; the steps after it then have not happened. */
export function requestWay({ services, limiter, budgets, addressOf, noteKeyUse }: WayParts) {
  // 1. The request id, which it was given when it came.
  const way: Step[] = [
    // 2. The address's budget. What no request may be is refused behind it, so that it has counted.
    (visit) => spend(budgets.ip, addressOf(visit.request), visit),
    requireSoundRequest,
    // 3. The key.
    authenticate,
    // 4. The key's budget.
    (visit) => spend(budgets.key, callerOf(visit).key.id, visit),
    // 5. The route.
    requireRoute,
    // 6. The route's scope.
    requireScope,
    // 7. The erasure budget.
    (visit) =>
      visit.destination.route?.isErasure ? spend(budgets.erasure, callerOf(visit).key.id, visit) : null,
    // 8. The parameters.
    ignoreBody,
    readParameters,
    // 9. The operation is run by `respond`, at the end of the way.
  ]
  const publicWay: Step[] = [requireSoundRequest, ignoreBody]
  const spend = spending(limiter)
  return (visit: Visit): Eventually<LetheError | null> =>
    walk(visit.destination.way ?? (visit.destination.isPublic ? publicWay : way), visit)

  function authenticate(visit: Visit): Eventually<LetheError | null> {
    const { authorization } = visit.request.headers
    if (authorization === undefined) return noKey
    return then(findCaller(authorization, visit.moment), (caller) => {
      if (caller === null) return invalidKey
      noteKeyUse(caller.key.id)
      visit.caller = caller
      return null
    })
  }

  function findCaller(authorization: string, { callers }: Moment): Eventually<Caller | null> {
    const known = callers.get(authorization)
    if (known !== undefined) return known
    const keyString = /^Bearer +(\S+)$/i.exec(authorization)?.[1]
    const caller = keyString === undefined ? null : authenticateKey(services, keyString)
    callers.set(authorization, caller)
    return caller
  }
}

// A flood is refused over and over for the same reason, so the reason is made once.
const noKey = new LetheError(
  'unauthorized',
  'No API key was sent. Send it in the header Authorization: Bearer <API_KEY>.',
)
const invalidKey = new LetheError('unauthorized', 'This is not a valid API key.')

/** Takes a request out of a holder's budget, or says that it is spent. */
export function spending(limiter: Pick<Limiter, 'take'>) {
  return (budget: Budget, holder: string, visit: Visit): Eventually<LetheError | null> =>
    then(limiter.take(budget, holder, visit), (state) => {
      visit.budget = state.granted ? tightest(visit.budget, state) : state
      return state.granted ? null : budgetSpent(budget)
    })
}

/** Who makes the request, on the steps behind the key. */
export function callerOf({ caller }: Visit): Caller {
  if (!caller) throw new Error('A request went past the key without one.')
  return caller
}

/** What no client may send, whatever it asks for. */
export function requireSoundRequest({ request, chosenId }: Visit): LetheError | null {
  if (chosenId === 'unusable') {
    return new LetheError('invalid_request', 'X-Request-Id must be 1 to 200 printable ASCII characters.')
  }
  const { httpVersion } = request
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    return new LetheError('invalid_request', 'This server speaks HTTP/1.1 and HTTP/1.0.')
  }
  if (request.headers.expect !== undefined && request.headers.expect.toLowerCase() !== '100-continue') {
    return new LetheError('invalid_request', 'The only expectation that can be met is 100-continue.')
  }
  if (httpVersion === '1.1' && request.headers.host === undefined) {
    return new LetheError('invalid_request', 'An HTTP/1.1 request needs a Host header.')
  }
  return null
}

/** Visible ASCII, but for the hash: a fragment is never sent, and taking it for one would cut an id short. */
const soundUrl = /^[\x21\x22\x24-\x7e]+$/

export function requireRoute(visit: Visit): LetheError | null {
  const { respond, allow, isBroken } = visit.destination
  const { request } = visit
  if (isBroken || !soundUrl.test(request.url ?? '')) {
    return new LetheError('invalid_request', 'The percent-encoding of the path is broken.')
  }
  if (respond) return null
  if (allow) {
    visit.allow = allow
    return new LetheError('invalid_request', `This path does not take ${request.method}; it takes ${allow}.`)
  }
  return new LetheError(
    'not_found',
    'There is nothing at this path. See /v1/analytics/openapi.json for what there is.',
  )
}

function requireScope(visit: Visit): LetheError | null {
  const { route } = visit.destination
  if (!route || callerOf(visit).key.scopes.includes(route.scope)) return null
  return new LetheError('forbidden', `This API key lacks the scope ${route.scope}, which this request needs.`)
}

function ignoreBody({ request }: Visit): Eventually<null> {
  return then(discardBody(request), () => null)
}

function readParameters(visit: Visit): null {
  const { request, destination } = visit
  const query = parseQueryString(queryOf(request.url))
  visit.operation = destination.route?.prepare(visit.params, query) ?? null
  return null
}
