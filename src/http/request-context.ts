import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Actor, Origin } from '../domain/activity.ts'
import type { Caller, Scope } from '../domain/api-key.ts'
import { type BudgetState, type CountedBudget, requestWaitMs, type WaitBudget } from '../domain/budget.ts'
import type { Problems } from '../domain/errors.ts'
import type { Instant } from '../domain/instant.ts'
import type { MaybePromise } from '../domain/maybe-promise.ts'
import type { Role } from '../domain/member.ts'
import type { RelyingParty } from '../domain/passkey.ts'
import type { Passwords } from '../domain/password.ts'
import type { Plan } from '../domain/retention.ts'
import type { RoleMapping } from '../domain/role-mapping.ts'
import type { Services } from '../domain/services.ts'
import type { SignedIn, SignedInBrowser, SignInSource } from '../domain/sign-in.ts'
import type { IdentityProvider } from '../domain/single-sign-on.ts'
import type { VariableReader } from '../domain/variable-token.ts'
import type { LineBlock } from '../operations/ingest.ts'
import type { FailureBody } from './envelope.ts'
import { type PathParameters, parseQueryString, type Query, queryOf } from './parameters.ts'
import type { BodyBounds } from './request-body.ts'
import type { RequestTrace } from './request-trace.ts'
import type { Fields, Schema } from './schema.ts'
import { ClientGone } from './streamed-body.ts'

/** A request in its pipeline, and what the pipeline has found out about it. */
export class RequestContext implements WaitBudget {
  readonly startedAt = performance.now()
  readonly id: string
  /** The ID for the log and the activity: one of ours if the client's could identify a person. */
  keptId: string
  readonly chosenId: ChosenRequestId
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly match: RouteMatch
  /** The requests that are run together with this one; `null` until they are run. */
  batch: RequestBatch | null = null
  /** The owner of its key, on the API. */
  caller: Caller | null = null
  /** What its token may read, on the Variables API. */
  reader: VariableReader | null = null
  /** The member who sent it, on the console. */
  signedIn: SignedIn | null = null
  /** The tightest budget; on a 429, the one that refused. */
  budget: BudgetState | null = null
  /** Every budget of the API that it was counted against, in order. */
  readonly counted: CountedBudget[] = []
  waitMs = requestWaitMs
  /** How many bytes of its response the client has not read yet. */
  unreadBytes = 0
  /** Whether its response is being compressed. */
  isPacking = false
  /** The methods that its path supports, if its own is not among them. */
  allow: string | null = null
  /** Whether the member must prove their identity again. */
  needsVerification = false
  /** The lines of its body, on a route that takes a batch of them. */
  lines: LineBlock[] = []
  /** The operation, once the parameters have been read. */
  operation: Operation | null = null
  /** The record for its span; `null` unless traces are exported. */
  trace: RequestTrace | null = null

  #gone: AbortController | null = null
  #query: Query | null = null

  get query(): Query {
    this.#query ??= parseQueryString(queryOf(this.request.url))
    return this.#query
  }

  /** Aborted when its connection closes, which ends long work for a client that is gone. */
  get gone(): AbortSignal {
    if (this.#gone === null) {
      const gone = new AbortController()
      this.#gone = gone
      if (this.response.closed) gone.abort(new ClientGone())
      else this.response.once('close', () => gone.abort(new ClientGone()))
    }
    return this.#gone.signal
  }

  constructor(
    id: string,
    chosenId: ChosenRequestId,
    request: IncomingMessage,
    response: ServerResponse,
    match: RouteMatch,
  ) {
    this.id = id
    this.keptId = id
    this.chosenId = chosenId
    this.request = request
    this.response = response
    this.match = match
  }

  /** The caller's organisation; `null` if the caller is not authenticated. */
  get owner(): string | null {
    const { caller, reader, signedIn } = this
    return caller?.key.organisationId ?? reader?.organisationId ?? signedIn?.organisation.id ?? null
  }
}

/** What the requests of a batch share: each key string and each token is looked up once. */
export class RequestBatch {
  readonly readers = new Map<string, MaybePromise<VariableReader | null>>()
  readonly callers = new Map<string, MaybePromise<Caller | null>>()
}

/** The batch of a request in its pipeline. */
export function batchOf({ batch }: RequestContext): RequestBatch {
  if (!batch) throw new Error('A request is run without a batch.')
  return batch
}

/** The API key or the member that a request acts for. */
interface Identity {
  organisationId: string
  plan: Plan
  actor: Actor
}

/** The identity of a request, in the steps after authentication. */
export function identityOf({ caller, signedIn }: RequestContext): Identity {
  if (caller) {
    const { id, name, organisationId } = caller.key
    return { organisationId, plan: caller.plan, actor: { kind: 'key', id, name } }
  }
  if (!signedIn) throw new Error('An unauthenticated request passed authentication.')
  const { member, organisation } = signedIn
  const actor = { kind: 'member', id: member.id, name: member.email } as const
  return { organisationId: organisation.id, plan: organisation.plan, actor }
}

/** What a token may read, in the steps after authentication. */
export function readerOf({ reader }: RequestContext): VariableReader {
  if (!reader) throw new Error('A request without a token passed authentication.')
  return reader
}

/** The origin of a change, for the activity. */
export function originOf(context: RequestContext): Origin {
  const { organisationId, actor } = identityOf(context)
  return { actor, requestId: context.keptId, organisationId }
}

/**
 * Who may use a route: a key with a scope, a variable token, a signed-in member with at least that role,
 * anyone on a page of the console (with a budget), or anyone at all. The last two must be listed in
 * `publicPaths`.
 */
export type Access = Scope | 'variable-token' | Role | 'open' | 'public'

/** The last step of a pipeline. `undefined` if the operation has written its response itself. */
type Operation = (services: Services, http: HttpTools) => MaybePromise<unknown>

/** Values by the names of parameters. */
type ExampleParameters = Readonly<Record<string, string | number>>

export interface Documentation<Data = unknown> {
  operationId: string
  /** The group it belongs to; data subjects by default. */
  tag?: string
  summary: string
  description: string
  /** Parameters that give the example response on the sample data of `npm start`. */
  exampleParameters: ExampleParameters
  /** Values of the other parameters. Each is used without the rest of the query, except a cursor. */
  exampleAlone?: ExampleParameters
  exampleBody?: object
  example: Data
}

/** A route of the API or the console, or a public page. */
export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'
  path: string
  access: Access
  isErasure: boolean
  /** Whether a member must have proved their identity within the last minutes. */
  recentSignIn: boolean
  /** Whether it is also for members who must add a second factor first. */
  isEnrolment: boolean
  query: Fields
  /** The fields of the JSON object in its body. */
  body: Fields
  /** The limits of the body; `null` for a route without a JSON body, where any other body is discarded. */
  bodyBounds: BodyBounds | null
  /** The schema of a line, for a route whose body is a batch of them. */
  line: Schema | null
  /** Whether the body, or what the path identifies, can name a person. */
  namesPerson: boolean
  /** The data of the response; `null` if the route writes its response itself, such as a page or a file. */
  response: Schema | null
  /** The type of a documented response that is a file. */
  fileType: string | null
  documentation: Documentation | null
  /**
   * Reads the parameters and returns the operation. Throws a `validation_error` with all problems, including
   * those that are already known.
   */
  read(
    context: RequestContext,
    params: PathParameters,
    body: Record<string, unknown>,
    now: Instant,
    problems?: Problems,
  ): Operation
}

export type PipelineName = 'key' | 'token' | 'member' | 'open' | 'public'

/** The result of matching a method and a path. `path` is the pattern, with parameters in braces. */
export type RouteMatch = { pipeline: PipelineName; params: PathParameters } & (
  | { kind: 'route'; path: string; route: Route }
  | { kind: 'other-method'; path: string; allow: string }
  | { kind: 'nothing'; path: string | null }
  | { kind: 'broken-url'; path: null }
)

/** The settings of the service that members may see. */
export interface Installation {
  budgets: { name: string; limit: number; windowSeconds: number }[]
  batchesPerMinute: number
  /** The port of the Variables API, if it has its own. */
  variablesPort: number | null
  engine: string
  version: string
}

/** The identity provider, and the roles that it determines, if any. */
export interface SingleSignOn {
  provider: IdentityProvider
  roleMapping: RoleMapping | null
}

/** What handlers use of the HTTP layer. */
export interface HttpTools extends SignInTools {
  installation: Installation
  /** `null` without an identity provider. */
  singleSignOn: SingleSignOn | null
  respond: Responder
  /** Makes the service start new erasures of privacy requests immediately. */
  wakeRequests(): void
  /** The address that a request was sent to, such as `https://lethe.example`; `null` if it is unknown. */
  serviceUrl(context: RequestContext): string | null
  passwords: Passwords
}

/** What signing in to the console needs. */
export interface SignInTools {
  /** Counts a sign-in attempt against its address, and refuses the request after too many. */
  countAttempt(context: RequestContext): Promise<void>
  /** The same for questions to browsers, which the store keeps for a while. */
  countChallenge(context: RequestContext): Promise<void>
  /** The same for the account: per known browser, otherwise per address and for all strangers together. */
  countGuess(context: RequestContext, email: string, browserId: string | null): Promise<void>
  /** What passkeys belong to; `null` if the console has no host name. */
  relyingParty(context: RequestContext): RelyingParty | null
  /** Throws `invalid_request` if the console has no host name. */
  requireRelyingParty(context: RequestContext): RelyingParty
  /** The mark that the browser got at an earlier sign-in. */
  browserMark(context: RequestContext): string | null
  /** What is known about the browser and the request of a sign-in. */
  sourceOf(context: RequestContext): SignInSource
  /** Sets the cookies of a new sign-in. */
  setCookies(context: RequestContext, browser: SignedInBrowser): void
  /** Identifies the browser between the beginning and the end of a round trip to the identity provider. */
  roundTripToken(context: RequestContext): string | null
  setRoundTripToken(context: RequestContext, token: string): void
  /** Removes the sign-in cookie. The browser stays known. */
  clearToken(context: RequestContext): void
}

/** Alternating names and values, the fastest form for Node. */
export type HeaderList = (string | number)[]

/** A response that is being streamed. */
interface ResponseStream {
  /** Rejects when the client is gone. */
  add(piece: string | Buffer): Promise<void>
  /** The `meta` of the envelope. */
  meta(): FailureBody['meta']
  /** Aborted when the client is gone. */
  signal: AbortSignal
}

export interface Responder {
  write(context: RequestContext, status: number, body: string | Buffer, headers?: HeaderList): void
  /** Writes a success in its envelope. */
  succeed(context: RequestContext, data: unknown): void
  /** The same for data that is JSON text already, with headers besides the common ones. */
  succeedWith(context: RequestContext, json: string, headers: HeaderList): void
  /**
   * Streams a response of any size, as fast as the client reads it. An error before the first text is an
   * ordinary failure; a later one ends the connection before the response is complete. HEAD gets only the
   * headers. A body that is compressed already is not compressed again.
   */
  stream(
    context: RequestContext,
    produce: (stream: ResponseStream) => Promise<void>,
    headers?: HeaderList,
    options?: { isCompressed?: boolean },
  ): Promise<void>
  /** Writes a failure in its envelope. Never throws: if even that fails, it ends the connection. */
  fail(context: RequestContext, error: unknown): void
}

const usable = /^[\x20-\x7e]{1,200}$/

/** The request ID chosen by the client: `null` if it sent none, `'unusable'` if it is invalid. */
type ChosenRequestId = { id: string } | 'unusable' | null

export function chosenRequestId(request: IncomingMessage): ChosenRequestId {
  const header = request.headers['x-request-id']
  if (header === undefined || header === '') return null
  return typeof header === 'string' && usable.test(header) ? { id: header } : 'unusable'
}

/** Whether a request has a bearer token, valid or not. Other schemes count as none. */
export function hasBearerToken(authorization: string | undefined): authorization is string {
  return authorization !== undefined && /^Bearer +\S/i.test(authorization)
}

/** The token; `undefined` if there is none, or if more text follows it. */
export function readBearerToken(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
}
