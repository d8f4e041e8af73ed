import { Problems } from '../domain/errors.ts'
import type { MaybePromise } from '../domain/maybe-promise.ts'
import type { SignedIn } from '../domain/member.ts'
import { windowStart } from '../domain/retention.ts'
import type { Services } from '../domain/services.ts'
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

/** The names in the braces of a path. */
type ParameterNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterNames<Rest>
  : never

/** A request's parameters. */
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
} & (Who extends 'member' ? { signedIn: SignedIn } : unknown)

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
  query?: QueryFields
  body?: BodyFields
  /** How large its body may be, where it is not what is usual. */
  maxBodyBytes?: number
  /** Where its body says nothing of a person: the ids that clients choose for such requests are kept. */
  bodyNamesNobody?: boolean
  response: Data | null
  documentation?: Documentation<ValueOf<Data>>
  /** What the parameters ask for; adds a problem for whatever does not fit together. */
  plan?(input: Input<Path, QueryFields, BodyFields>, problems: Problems): Plan
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
  const { plan, handle, documentation, isErasure = false, ...route } = declaration
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
    bodyNamesPerson: Object.keys(body).length > 0 && declaration.bodyNamesNobody !== true,
    isErasure,
    documentation: documentation ?? null,
    read(context, params, sent) {
      const problems = new Problems()
      // What was read is what the declaration names: the reader checks it, and its types cannot say so.
      const input = readParameters(context.request.url, params, sent, problems) as Input<
        Path,
        QueryFields,
        BodyFields
      >
      const planned = (plan ? plan(input, problems) : null) as Plan
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

/** A page or a file that anybody may read. Its handler writes the answer itself. */
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

/** What a caller sees of its organisation's trackers at this moment. */
export function organisationView({
  services: { retentionDays, clock },
  context,
}: CallInfo): OrganisationView {
  const { organisationId, plan } = identityOf(context)
  return { organisationId, since: windowStart(retentionDays, plan, clock()) }
}

/** What it sees of one of them. */
export function trackerView(call: CallInfo, trackerId: string): TrackerView {
  return { ...organisationView(call), trackerId }
}
