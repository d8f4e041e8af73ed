import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Actor, Origin } from '../domain/activity.ts'
import type { Caller, Scope } from '../domain/api-key.ts'
import { type BudgetState, type CountedBudget, requestWaitMs, type WaitBudget } from '../domain/budget.ts'
import type { MaybePromise } from '../domain/maybe-promise.ts'
import type { SignedIn, SignedInBrowser } from '../domain/member.ts'
import type { Passwords } from '../domain/password.ts'
import type { Plan } from '../domain/retention.ts'
import type { Services } from '../domain/services.ts'
import type { FailureBody } from './envelope.ts'
import type { BodyBounds } from './request-body.ts'
import type { Fields, Schema } from './schema.ts'
import { ClientGone } from './streamed-body.ts'

/** A request on its way through its pipeline, and what is learnt of it there. */
export class RequestContext implements WaitBudget {
  readonly startedAt = performance.now()
  readonly id: string
  /** The id as log and activity have it: where a client's own may tell whom the request is about, one of ours. */
  keptId: string
  readonly chosenId: ChosenRequestId
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly match: RouteMatch
  /** What it shares with those that are run with it. */
  batch = new RequestBatch()
  /** Whose key it carries, on the API. */
  caller: Caller | null = null
  /** Who makes it, at the console. */
  signedIn: SignedIn | null = null
  /** The budget its client should mind; on a 429 the one that refused. */
  budget: BudgetState | null = null
  /** Every budget of the API that it was counted in, in turn. */
  readonly counted: CountedBudget[] = []
  waitMs = requestWaitMs
  /** How many bytes of its answer its client is yet to take. */
  unreadBytes = 0
  /** Whether its answer is made and is being packed. */
  isPacking = false
  /** The methods its path takes, when its own is not among them. */
  allow: string | null = null
  /** What is left to do once its parameters have been read. */
  operation: Operation | null = null

  #gone: AbortController | null = null

  /** Aborted when its connection closes: long work for a client that is gone ends then. */
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

  /** The organisation that its answer is for; `null` before it is known, and for strangers. */
  get owner(): string | null {
    return this.caller?.key.organisationId ?? this.signedIn?.organisation.id ?? null
  }
}

/** What requests of one batch share: a key string means the same to all of them, and is forgotten with them. */
export class RequestBatch {
  readonly callers = new Map<string, MaybePromise<Caller | null>>()
}

/** For whom a request is made: an API key or a member, and what they may see. */
interface Identity {
  organisationId: string
  plan: Plan
  actor: Actor
}

/** Who makes a request, on the steps behind its authentication. */
export function identityOf({ caller, signedIn }: RequestContext): Identity {
  if (caller) {
    const { id, name, organisationId } = caller.key
    return { organisationId, plan: caller.plan, actor: { kind: 'key', id, name } }
  }
  if (!signedIn) throw new Error('A request went past its authentication without one.')
  const { member, organisation } = signedIn
  const actor = { kind: 'member', id: member.id, name: member.email } as const
  return { organisationId: organisation.id, plan: organisation.plan, actor }
}

/** Where the changes that a request makes come from. */
export function originOf(context: RequestContext): Origin {
  const { organisationId, actor } = identityOf(context)
  return { actor, requestId: context.keptId, organisationId }
}

/**
 * Who may use a route: a key with a scope, a member who is signed in to the console, whoever comes to the console (counted, from a
 * page of ours), or anybody. The last two must stand on the list of public paths.
 */
export type Access = Scope | 'member' | 'open' | 'public'

/** An operation whose parameters have been read: the last step of a pipeline. `undefined` when it has written its answer itself. */
type Operation = (services: Services, http: HttpTools) => MaybePromise<unknown>

/** Values by the names of parameters. */
type ExampleParameters = Readonly<Record<string, string | number>>

export interface Documentation<Data = unknown> {
  operationId: string
  /** The group it belongs to; without it, that of data subjects. */
  tag?: string
  summary: string
  description: string
  /** Values for its parameters that go together, and give the example of an answer on the sample of `npm start`. */
  exampleParameters: ExampleParameters
  /** Values for the others, each of which goes without the rest of the query; only a cursor continues the list that the rest asks for. */
  exampleAlone?: ExampleParameters
  /** What a request may bring in its body, where the operation takes one. */
  exampleBody?: object
  example: Data
}

/** A route: of the API, of the console, or a public page. It cannot be written without saying who may use it. */
export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'
  path: string
  access: Access
  isErasure: boolean
  query: Fields
  /** What the JSON object in its body may hold, by name. */
  body: Fields
  /** How much that may be; `null` for a route that takes no body, where one is read and forgotten. */
  bodyBounds: BodyBounds | null
  /** Whether that body may say whom a request is about. */
  bodyNamesPerson: boolean
  /** The data of its answer; `null` for a route that writes its answer itself, such as a page or a stream. */
  response: Schema | null
  /** What the API's description says of it. */
  documentation: Documentation | null
  /** Reads a request's parameters, all problems together (`validation_error`), and hands back what is left to do. */
  read(context: RequestContext, params: PathParameters, body: Record<string, unknown>): Operation
}

/** The values that a path has for its parameters, decoded once. */
export type PathParameters = Record<string, string>

/** Which pipeline a request goes through. */
export type PipelineName = 'key' | 'member' | 'open' | 'public'

/** What a request's method and path lead to. `path` is the pattern, with its parameters in braces; never the path itself. */
export type RouteMatch = { pipeline: PipelineName; params: PathParameters } & (
  | { kind: 'route'; path: string; route: Route }
  | { kind: 'other-method'; path: string; allow: string }
  | { kind: 'nothing'; path: string | null }
  | { kind: 'broken-url'; path: null }
)

/** How the service was set up, as far as members may know. */
export interface Installation {
  budgets: { name: string; limit: number; windowSeconds: number }[]
  batchesPerMinute: number
  engine: string
  version: string
}

/** What handlers need of the HTTP side. */
export interface HttpTools extends SignInTools {
  installation: Installation
  respond: Responder
  /** Has the service begin with a batch that was started. */
  wakeBatches(): void
  /** What is left of the erasures of the member who asks. */
  erasuresLeft(context: RequestContext): Promise<BudgetState>
  passwords: Passwords
}

/** What signing in to the console takes. */
export interface SignInTools {
  /** Counts an attempt to sign in from its address. Ends the request when there were too many. */
  countAttempt(context: RequestContext): Promise<void>
  /** The same for its account: from a browser that the member is known to use, or else from its address and from all strangers. */
  countGuess(context: RequestContext, account: string, browserId: string | null): Promise<void>
  /** What its browser shows of an earlier sign-in. */
  browserMark(context: RequestContext): string | null
  /** Hands the browser what a sign-in has made for it. */
  welcome(context: RequestContext, browser: SignedInBrowser): void
  /** Takes the token away from the browser, which stays known. */
  forgetToken(context: RequestContext): void
}

/** Names and values in turn, as Node writes them fastest. */
export type HeaderList = (string | number)[]

/** An answer in the making. */
interface AnswerStream {
  /** Rejects when the client is gone. */
  add(text: string): Promise<void>
  /** What belongs into the envelope of an answer. */
  meta(): FailureBody['meta']
  /** Aborted when the client is gone. */
  signal: AbortSignal
}

/** Writes answers. */
export interface Responder {
  write(context: RequestContext, status: number, body: string | Buffer, headers?: HeaderList): void
  /** The envelope of a success. */
  succeed(context: RequestContext, data: unknown): void
  /**
   * An answer of any size, as fast as its client takes it. Nothing is sent before `produce` adds something; what it throws before is
   * a failure like any other. Should it come to nothing later, the connection ends before the answer does. HEAD gets the headers.
   */
  stream(
    context: RequestContext,
    produce: (stream: AnswerStream) => Promise<void>,
    headers?: HeaderList,
  ): Promise<void>
  /** The envelope of a failure: the last resort, which never throws. Who cannot even be told of one sees its connection end. */
  fail(context: RequestContext, error: unknown): void
}

const usable = /^[\x20-\x7e]{1,200}$/

/** The request id a client chose: `null` when it sent none, `'unusable'` when it cannot be used as sent. */
type ChosenRequestId = { id: string } | 'unusable' | null

export function chosenRequestId(request: IncomingMessage): ChosenRequestId {
  const header = request.headers['x-request-id']
  if (header === undefined || header === '') return null
  return typeof header === 'string' && usable.test(header) ? { id: header } : 'unusable'
}

/** Whether a request carries a bearer token at all, good or bad. Another scheme counts as none. */
export function hasBearerToken(authorization: string | undefined): authorization is string {
  return authorization !== undefined && /^Bearer +\S/i.test(authorization)
}

/** The token; `undefined` where there is none, or something else behind it. */
export function readBearerToken(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
}
