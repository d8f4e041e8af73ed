import type { Caller } from '../domain/api-key.ts'
import { LetheError } from '../domain/errors.ts'
import type { Eventually } from '../domain/eventually.ts'
import type { Clock } from '../domain/instant.ts'
import { type RetentionDays, windowStart } from '../domain/plan.ts'
import { Problems } from '../domain/problems.ts'
import type { Randomness } from '../domain/randomness.ts'
import type { Scope } from '../domain/scope.ts'
import type { Store } from '../domain/store.ts'
import type { TrackerView } from '../domain/tracker.ts'
import type { Query } from './query-string.ts'
import type { PathParameters } from './router.ts'
import { fitting } from './schemas/fitting.ts'
import { pathParameters } from './schemas/parameters.ts'
import { type Fields, object, type Schema, type ValueOf, type ValuesOf } from './schemas/schema.ts'

/** What operations work with. */
export interface Services extends Store {
  retentionDays: RetentionDays
  clock: Clock
  randomness: Randomness
}

/** What a caller sees of a tracker at this moment. */
export function trackerView(
  { retentionDays, clock }: Services,
  { key, plan }: Caller,
  trackerId: string,
): TrackerView {
  return { organisationId: key.organisationId, trackerId, since: windowStart(retentionDays, plan, clock()) }
}

/** The ids in a path, decoded; `''` for one that the path does not have. */
export interface PathValues {
  trackerId: string
  subjectId: string
}

/** An operation whose parameters have been read: the last step of a request's way. */
export type Operation = (services: Services, caller: Caller, requestId: string) => Eventually<unknown>

/** A route of the API. It cannot be written without a scope. */
export interface ApiRoute {
  operationId: string
  method: 'GET' | 'DELETE'
  path: string
  scope: Scope
  isErasure: boolean
  summary: string
  description: string
  query: Fields
  data: Schema
  example: unknown
  /** Reads a request's parameters, all problems at once (`validation_error`), and hands back what is left to do. */
  prepare(path: PathParameters, query: Query): Operation
}

/** A route as its file declares it, with its types tied together. */
interface RouteDeclaration<Parameters extends Fields, Input, Data extends Schema>
  extends Omit<ApiRoute, 'query' | 'data' | 'example' | 'prepare' | 'isErasure'> {
  isErasure?: boolean
  query: Parameters
  data: Data
  example: ValueOf<Data>
  /** What the parameters ask for; adds a problem for whatever does not fit together. */
  plan(path: PathValues, query: ValuesOf<Parameters>, problems: Problems): Input
  run(
    services: Services,
    caller: Caller,
    path: PathValues,
    input: Input,
    requestId: string,
  ): Eventually<ValueOf<Data>>
}

export function defineRoute<Parameters extends Fields, Input, Data extends Schema>(
  declaration: RouteDeclaration<Parameters, Input, Data>,
): ApiRoute {
  const { plan, run, ...route } = declaration
  const isQuery = fitting(object(declaration.query))
  const fields = validators(declaration.query)
  const hasTracker = declaration.path.includes('{trackerId}')
  const hasSubject = declaration.path.includes('{subjectId}')
  return {
    ...route,
    isErasure: declaration.isErasure ?? false,
    prepare({ trackerId = '', subjectId = '' }, query) {
      const problems = new Problems()
      if (hasTracker) check('trackerId', trackerId, idValidators, problems)
      if (hasSubject) check('subjectId', subjectId, idValidators, problems)
      const values = readQuery(fields, query, problems)
      if (!isQuery(values)) throw new Error('A query that passed field by field fails as a whole.')
      const input = plan({ trackerId, subjectId }, values, problems)
      problems.throwIfAny()
      return (services, caller, requestId) =>
        run(services, caller, { trackerId, subjectId }, input, requestId)
    },
  }
}

export type Validators = Map<string, { isFit(value: unknown): boolean; rule: string; isInteger: boolean }>

export function validators(schemas: Fields): Validators {
  return new Map(
    Object.entries(schemas).map(([name, schema]) => {
      const { 'x-rule': rule, type } = schema
      if (typeof rule !== 'string') throw new Error(`The parameter ${name} has no x-rule.`)
      return [name, { isFit: fitting(schema), rule, isInteger: type === 'integer' }]
    }),
  )
}

const idValidators = validators(pathParameters)

export function check(field: string, value: unknown, fields: Validators, problems: Problems): boolean {
  const known = fields.get(field)
  if (known?.isFit(value)) return true
  problems.add(
    field,
    known ? `${field} must be ${known.rule}` : `${field} is not a parameter of this request`,
  )
  return false
}

/** The query's valid values. Whatever else it holds becomes a problem: unknown, repeated, or against its rule. */
export function readQuery(fields: Validators, query: Query, problems: Problems): Record<string, unknown> {
  if (query.isBroken)
    throw new LetheError('invalid_request', 'The percent-encoding of the query string is broken.')
  const values: Record<string, unknown> = {}
  for (const [name, text] of query.values) {
    const value = fields.get(name)?.isInteger && /^(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : text
    if (query.repeated.has(name) && fields.has(name)) problems.add(name, `${name} must be given once`)
    else if (check(name, value, fields, problems)) values[name] = value
  }
  return values
}
