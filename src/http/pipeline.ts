import type { Caller } from '../domain/api-key.ts'
import { type ApiBudgetName, type Budget, budgetSpent, type Limiter, tightest } from '../domain/budget.ts'
import { LetheError, Problems } from '../domain/errors.ts'
import { andThen, type MaybePromise, runSteps } from '../domain/maybe-promise.ts'
import { allows, isRole } from '../domain/member.ts'
import { hexDigits } from '../domain/reveals.ts'
import { missingFactorNames } from '../domain/second-factor.ts'
import { FairQueue } from '../domain/semaphore.ts'
import { isRecent } from '../domain/sign-in.ts'
import { type AuthenticationDeps, authentication } from './authenticate.ts'
import type { clientAddress } from './client-address.ts'
import { consoleBudgets } from './console/sign-in-cookie.ts'
import type { PathParameters } from './parameters.ts'
import { discardBody, hasBody, isLarge, maxBodyBytes, readJson } from './request-body.ts'
import {
  type HttpTools,
  identityOf,
  type PipelineName,
  type RequestContext,
  type Route,
  readerOf,
} from './request-context.ts'
import { isLargeBatch, readLines } from './request-lines.ts'
import { isNamedInFields, isNamedInLines } from './request-log.ts'
import { requireValidRequest } from './valid-request.ts'

export interface PipelineDeps extends AuthenticationDeps {
  http: HttpTools
  limiter: Pick<Limiter, 'take'>
  budgets: Record<ApiBudgetName, Budget>
  addressOf: ReturnType<typeof clientAddress>
  /** The maximum length of a line in a batch. */
  maxLineBytes: number
  noteKeyRefusal(keyId: string): void
  noteRefusedString(keyString: string): void
  /** Absent unless traces are exported. */
  traces?: RequestTraces
}

/** The number of large bodies in memory, one per organisation. Others wait before their bodies are read. */
const largeBodyBounds = { permits: 16, maxWaitingEach: 100, waitTimeoutMs: 20_000 }
/** The same for batches of lines: enough of one organisation that they share transactions. */
const batchBounds = { permits: 32, permitsEach: 8, maxWaitingEach: 100, waitTimeoutMs: 20_000 }

/** Returns the reason to refuse a request, or `null`. */
type Middleware = (context: RequestContext) => MaybePromise<LetheError | null>

/** Records requests for their spans. */
export interface RequestTraces {
  begin(context: RequestContext): void
  /** A step that also records when it begins, and the calls that it makes. */
  step(name: string, run: Middleware): Middleware
  /** Called when the response has ended, before its line in the log, which contains the trace ID. */
  end(context: RequestContext): void
}

/** The pipelines of all requests, up to their operations. Each step can refuse a request. */
export function pipelines(deps: PipelineDeps): (context: RequestContext) => MaybePromise<LetheError | null> {
  const { services, http, budgets, addressOf, originPolicy } = deps
  const authenticate = authentication(deps)
  const spend = spending(deps.limiter)
  const largeBodies = new FairQueue(largeBodyBounds)
  const batches = new FairQueue(batchBounds)

  /** What a request needs of its member. */
  const memberAccess: Record<string, Middleware> = {
    member: authenticate.member,
    role: requireRole,
    'second factor': requireSecondFactor,
    'recent sign-in': requireRecentSignIn,
  }
  /** The steps of each pipeline, by the names that traces show. */
  const named: Record<PipelineName, Record<string, Middleware>> = {
    /** The API, with a key. */
    key: {
      // The address's budget comes first, so that malformed requests count against it.
      'address budget': (context) => spend(budgets.ip, addressOf(context.request), context),
      'valid request': requireValidRequest,
      key: authenticate.key,
      'key budget': (context) => spend(budgets.key, callerOf(context).key.id, context),
      route: requireRoute,
      scope: requireScope,
      'erasure budget': (context) =>
        isErasure(context) ? spend(budgets.erasure, callerOf(context).key.id, context) : null,
      parameters: readParameters,
      operation: operate,
    },
    /** The Variables API, with a variable token. */
    token: {
      'address budget': (context) => spend(budgets.ip, addressOf(context.request), context),
      'valid request': requireValidRequest,
      token: authenticate.token,
      'token budget': (context) => spend(budgets.variables, readerOf(context).tokenId, context),
      route: requireRoute,
      parameters: readParameters,
      operation: operate,
    },
    /** The console, for members. */
    member: {
      'valid request': requireValidRequest,
      'address budget': (context) => spend(consoleBudgets.console, addressOf(context.request), context),
      route: requireRoute,
      origin: requireOwnOrigin,
      ...memberAccess,
      parameters: readParameters,
      // A body can take 20 seconds to arrive, while its sender is signed out, removed or demoted.
      'access again': (context) =>
        hasBody(context.request) ? runSteps(Object.values(memberAccess), context) : null,
      operation: operate,
    },
    /** The console, before sign-in. */
    open: {
      'valid request': requireValidRequest,
      'address budget': (context) => spend(consoleBudgets.console, addressOf(context.request), context),
      route: requireRoute,
      origin: requireOwnOrigin,
      parameters: readParameters,
      operation: operate,
    },
    /** Public pages, without a budget. */
    public: { 'valid request': requireValidRequest, parameters: readParameters, operation: operate },
  }
  const { key, token, member, open, public: pages } = named
  const byName: Record<PipelineName, readonly Middleware[]> = {
    key: stepsOf(key),
    token: stepsOf(token),
    member: stepsOf(member),
    open: stepsOf(open),
    public: stepsOf(pages),
  }
  return (context) => runSteps(byName[context.match.pipeline], context)

  /** Without traces, the steps are run as they are. */
  function stepsOf(steps: Record<string, Middleware>): readonly Middleware[] {
    return Object.entries(steps).map(([name, run]) => deps.traces?.step(name, run) ?? run)
  }

  /** Changes at the console must come from its own pages. */
  function requireOwnOrigin({ request }: RequestContext): LetheError | null {
    if (request.method === 'GET' || request.method === 'HEAD') return null
    const { origin, 'sec-fetch-site': site } = request.headers
    if (site !== undefined && site !== 'same-origin') return foreignOrigin
    return origin !== undefined && originPolicy.isOurs(origin, request) ? null : foreignOrigin
  }

  function requireRecentSignIn(context: RequestContext): LetheError | null {
    const { match, signedIn } = context
    if (match.kind !== 'route' || !match.route.recentSignIn) return null
    if (signedIn && isRecent(signedIn.signIn, services.clock())) return null
    context.needsVerification = true
    return notRecent
  }

  /**
   * Resolves when the organisation may have another large body in memory. Holds the permit until the
   * response.
   */
  function waitForLargeBody(context: RequestContext, bodies: FairQueue): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const { gone } = context
    const untilAnswered = () => {
      resolve()
      return new Promise<void>((done) => {
        if (gone.aborted) done()
        else gone.addEventListener('abort', () => done())
      })
    }
    bodies.run(identityOf(context).organisationId, untilAnswered, gone).catch(reject)
    return promise
  }

  async function readBatch(context: RequestContext, route: Route, params: PathParameters): Promise<null> {
    const { request } = context
    if (isLargeBatch(request, maxBodyBytes)) await waitForLargeBody(context, batches)
    const problems = new Problems()
    const reading = readLines(request, deps.maxLineBytes, problems)
    // What is wrong with a body besides its lines can name a person.
    context.lines = await hideNamedIds(
      context,
      reading,
      (digits, lines) => problems.list().length > 0 || isNamedInLines(digits, lines),
    )
    context.operation = route.read(context, params, {}, services.clock(), problems)
    return null
  }

  /**
   * Keeps IDs that the client chose out of the log and the traces if they reveal a person named in the body,
   * or if the body cannot be read. All are UUIDs or hexadecimal digits: see `isKeepable`.
   */
  async function hideNamedIds<Body>(
    context: RequestContext,
    reading: Promise<Body>,
    isNamed: (digits: string, body: Body) => boolean,
  ): Promise<Body> {
    try {
      const body = await reading
      hideIds(context, (digits) => isNamed(digits, body))
      return body
    } catch (error) {
      hideIds(context, () => true)
      throw error
    }
  }

  function hideIds(context: RequestContext, isHidden: (digits: string) => boolean): void {
    const { id, trace } = context
    if (isChosenIdKept(context) && isHidden(hexDigits(id))) context.keptId = services.randomness.uuid()
    if (trace?.sentIds.some(isHidden)) trace.forgetSent()
  }

  /** Reads the body, or discards it if the route takes none, then the path and the query. */
  function readParameters(context: RequestContext): MaybePromise<null> {
    const { request, match } = context
    if (match.kind !== 'route') throw new Error('A request without a route passed requireRoute.')
    const { route, params } = match
    const { bodyBounds } = route
    if (route.line !== null) return readBatch(context, route, params)
    if (bodyBounds !== null) {
      const permit = isLarge(request, bodyBounds) ? waitForLargeBody(context, largeBodies) : null
      const read = () => {
        const reading = readJson(request, bodyBounds)
        return route.namesPerson ? hideNamedIds(context, reading, isNamedInFields) : reading
      }
      return andThen(andThen(permit, read), (fields) => {
        context.operation = route.read(context, params, fields, services.clock())
        return null
      })
    }
    return andThen(discardBody(request), () => {
      context.operation = route.read(context, params, {}, services.clock())
      return null
    })
  }

  function operate(context: RequestContext): MaybePromise<null> {
    if (!context.operation) throw new Error('A request reached its operation without parameters.')
    return andThen(context.operation(services, http), (data) => {
      if (data !== undefined) http.respond.succeed(context, data)
      return null
    })
  }
}

// Created once, because a flood of requests is refused for the same reason.
const notRecent = new LetheError(
  'unauthorized',
  'Confirm that it is you: this needs a proof of your identity from the last ten minutes.',
)
const foreignOrigin = new LetheError(
  'forbidden',
  'This request did not come from a page of this console. Behind a proxy, set LETHE_PUBLIC_URL to the address of the console.',
)

/** Counts a request against a budget, or refuses it if the budget is used up. */
export function spending(limiter: Pick<Limiter, 'take'>) {
  return (budget: Budget, bucketKey: string, context: RequestContext): MaybePromise<LetheError | null> =>
    andThen(limiter.take(budget, bucketKey, context), (state) => {
      const { pipeline } = context.match
      if (pipeline === 'key' || pipeline === 'token') context.counted.push({ budget, state })
      context.budget = state.granted ? tightest(context.budget, state) : state
      return state.granted ? null : budgetSpent(budget)
    })
}

/** The caller, in the steps after authentication. */
function callerOf({ caller }: RequestContext): Caller {
  if (!caller) throw new Error('A request without a key passed authentication.')
  return caller
}

/** Visible ASCII without `#`: treating the rest as a fragment would truncate an ID. */
const validUrl = /^[\x21\x22\x24-\x7e]+$/

function requireRoute(context: RequestContext): LetheError | null {
  const { request, match } = context
  if (match.kind === 'broken-url' || !validUrl.test(request.url ?? '')) {
    return new LetheError('invalid_request', 'The path has invalid percent-encoding.')
  }
  if (match.kind === 'route') return null
  if (match.kind === 'other-method') {
    context.allow = match.allow
    return new LetheError(
      'invalid_request',
      `This path does not support ${request.method}. Supported methods: ${match.allow}.`,
    )
  }
  const service = match.pipeline === 'token' ? 'variables' : 'analytics'
  return new LetheError(
    'not_found',
    `This path does not exist. See /v1/${service}/openapi.json for all paths.`,
  )
}

function requireScope(context: RequestContext): LetheError | null {
  const { match } = context
  if (match.kind !== 'route') return null
  const scope = match.route.access
  if (callerOf(context).key.scopes.some((granted) => granted === scope)) return null
  return new LetheError('forbidden', `This API key lacks the scope ${scope}, which this request needs.`)
}

/** The member's role now, because the sign-in is looked up with its member for every request. */
function requireRole({ match, signedIn }: RequestContext): LetheError | null {
  if (match.kind !== 'route' || !isRole(match.route.access)) return null
  const { access } = match.route
  const role = signedIn?.member.role
  if (role !== undefined && allows(role, access)) return null
  return new LetheError('forbidden', `This needs the role ${access}. Your role is ${role}.`)
}

/** A member whose organisation requires a second factor can do nothing else before it is added. */
function requireSecondFactor({ match, signedIn }: RequestContext): LetheError | null {
  if (match.kind !== 'route' || match.route.isEnrolment) return null
  const missing = signedIn?.missingFactor ?? null
  if (missing === null) return null
  const what = missingFactorNames[missing]
  return new LetheError('forbidden', `Your organisation requires ${what}. Add one to your account first.`)
}

/** Whether the log contains the client's own request ID. */
function isChosenIdKept({ id, keptId, chosenId }: RequestContext): boolean {
  return keptId === id && chosenId !== null
}

function isErasure({ match }: RequestContext): boolean {
  return match.kind === 'route' && match.route.isErasure
}
