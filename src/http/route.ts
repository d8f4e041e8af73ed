import { Problems } from '../domain/errors.ts'
import type { Instant } from '../domain/instant.ts'
import type { MaybePromise } from '../domain/maybe-promise.ts'
import type { Role } from '../domain/member.ts'
import { windowStart } from '../domain/retention.ts'
import type { Services } from '../domain/services.ts'
import type { SignedIn } from '../domain/sign-in.ts'
import type { OrganisationView } from '../domain/subject-search.ts'
import type { TrackerView } from '../domain/tracker.ts'
import { listBounds, parameterReader } from './parameters.ts'
import { maxBodyBytes } from './request-body.ts'
import {
  type Access,
  type Documentation,
  type HttpTools,
  identityOf,
  type RequestContext,
  type Route,
} from './request-context.ts'
import type { Fields, Schema, ValueOf, ValuesOf } from './schema.ts'

/** The parameters of a path. */
type ParameterNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterNames<Rest>
  : never

interface Input<Path extends string, QueryFields extends Fields, BodyFields extends Fields> {
  path: Record<ParameterNames<Path>, string>
  query: ValuesOf<QueryFields>
  body: ValuesOf<BodyFields>
}

/** A request whose parameters have been read. */
type Call<
  Who extends Access,
  Path extends string,
  QueryFields extends Fields,
  BodyFields extends Fields,
  Plan,
> = Input<Path, QueryFields, BodyFields> & {
  context: RequestContext
  services: Services
  http: HttpTools
  plan: Plan
} & (Who extends Role ? { signedIn: SignedIn } : unknown)

/** A route as its file declares it, with its types tied together. */
interface Declaration<
  Who extends Access,
  Path extends string,
  QueryFields extends Fields,
  BodyFields extends Fields,
  Plan,
  Data extends Schema,
> {
  method: Route['method']
  path: Path
  access: Who
  isErasure?: boolean
  /** Whether a member must have proved their identity within the last ten minutes. */
  recentSignIn?: boolean
  /** Whether it is also for members who must add a second factor first. */
  isEnrolment?: boolean
  query?: QueryFields
  body?: BodyFields
  /** The maximum size of the body, if it is not the default. */
  maxBodyBytes?: number
  /** The documented schema of a line, if the body is a batch of lines; they are in `context.lines`. */
  line?: Schema
  /** Whether the body never identifies a person: then request IDs chosen by clients are kept. */
  bodyNamesNobody?: boolean
  response: Data | null
  /** The type of the response, if it is a file and not data. */
  fileType?: string
  documentation?: Documentation<ValueOf<Data>>
  /** Converts the parameters for the handler, and adds a problem for each invalid combination. */
  plan?(input: Input<Path, QueryFields, BodyFields>, problems: Problems, now: Instant): Plan
  handle(
    call: Call<Who, Path, QueryFields, BodyFields, Plan>,
  ): MaybePromise<NoInfer<ValueOf<Data>> | undefined>
}

export function defineRoute<
  Who extends Access,
  Path extends string,
  Data extends Schema,
  QueryFields extends Fields = Record<never, never>,
  BodyFields extends Fields = Record<never, never>,
  Plan = null,
>(declaration: Declaration<Who, Path, QueryFields, BodyFields, Plan, Data>): Route {
  const {
    plan,
    handle,
    documentation,
    isErasure = false,
    recentSignIn = false,
    isEnrolment = false,
    line = null,
    fileType = null,
    ...route
  } = declaration
  const query: Fields = declaration.query ?? {}
  const body: Fields = declaration.body ?? {}
  const readParameters = parameterReader(declaration.path, query, body, declaration.access === 'public')
  return {
    ...route,
    query,
    body,
    bodyBounds: declaration.body
      ? { maxBytes: route.maxBodyBytes ?? maxBodyBytes, lists: listBounds(body) }
      : null,
    line,
    namesPerson:
      line !== null ||
      (Object.keys(body).length > 0 && declaration.bodyNamesNobody !== true) ||
      declaration.path.includes('{requestId}'),
    fileType,
    isErasure,
    recentSignIn,
    isEnrolment,
    documentation: documentation ?? null,
    read(context, params, sent, now, problems = new Problems()) {
      // The reader validates against the declaration, which its types cannot express.
      const input = readParameters(context.query, params, sent, problems) as Input<
        Path,
        QueryFields,
        BodyFields
      >
      const planned = (plan ? plan(input, problems, now) : null) as Plan
      problems.throwIfAny()
      return (services, http) => {
        const { path, query, body } = input
        const { signedIn } = context
        const call = { path, query, body, context, services, http, plan: planned, signedIn }
        return handle(call as Call<Who, Path, QueryFields, BodyFields, Plan>)
      }
    },
  }
}

/** A public page or file. Its handler writes the response itself. */
export function definePage(
  path: string,
  write: (call: { context: RequestContext; http: HttpTools }) => void,
): Route {
  return defineRoute({
    method: 'GET',
    path,
    access: 'public',
    response: null,
    handle(call) {
      write(call)
    },
  })
}

interface CallInfo {
  services: Services
  context: RequestContext
}

/** What the caller can see of its organisation now. */
export function organisationView({
  services: { retentionDays, clock },
  context,
}: CallInfo): OrganisationView {
  const { organisationId, plan } = identityOf(context)
  return { organisationId, since: windowStart(retentionDays, plan, clock()) }
}

/** What the caller can see of a tracker now. */
export function trackerView(call: CallInfo, trackerId: string): TrackerView {
  return { ...organisationView(call), trackerId }
}
