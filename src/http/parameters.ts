import { LetheError, type Problems } from '../domain/errors.ts'
import { identifierPattern, identifierRule, maxIdentifierLength } from '../domain/identifier.ts'
import type { PathParameters } from './request-context.ts'
import { type Fields, isOptional, object, text, validator } from './schema.ts'

// `x-rule` says in words what the schema says in keywords; the 422 of a parameter quotes it.

export const identifier = {
  minLength: 1,
  maxLength: maxIdentifierLength,
  pattern: identifierPattern,
  'x-rule': identifierRule,
}

/** What may stand in the braces of a route's path. */
export const pathParameters = {
  trackerId: text({
    ...identifier,
    description: 'The tracker, as an opaque string; percent-encode it in the path.',
  }),
  subjectId: text({
    ...identifier,
    description: 'The data subject, as an opaque string; percent-encode it in the path.',
  }),
  keyId: text(identifier),
  memberId: text(identifier),
  batchId: text(identifier),
}

type Validators = Map<string, { isValid(value: unknown): boolean; rule: string; isInteger: boolean }>

/**
 * Reads path, query and body of a route's requests. Whatever is wrong with them becomes a problem. A public page has no use for a
 * query, and leaves whatever comes with it alone.
 */
export function parameterReader(path: string, query: Fields, body: Fields, isPublic: boolean) {
  const names = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => name)
  const unknown = names.find((name) => !pathValidators.has(name))
  if (unknown !== undefined) throw new Error(`The parameter ${unknown} of ${path} has no schema.`)
  const queryValidators = validators(query)
  const bodyValidators = validators(body)
  const isQuery = validator(object(query))
  const needed = namesNeeded(body)
  const neededInQuery = namesNeeded(query)

  function readBody(sent: Record<string, unknown>, problems: Problems): Record<string, unknown> {
    for (const name of needed)
      if (!Object.hasOwn(sent, name)) check(name, undefined, bodyValidators, problems)
    const values: Record<string, unknown> = {}
    for (const name of Object.keys(sent))
      if (check(name, sent[name], bodyValidators, problems)) values[name] = sent[name]
    return values
  }

  return (
    url: string | undefined,
    params: PathParameters,
    sent: Record<string, unknown>,
    problems: Problems,
  ) => {
    for (const name of names) check(name, params[name], pathValidators, problems)
    const text = isPublic ? '' : queryOf(url)
    const values = readQuery(queryValidators, parseQueryString(text), problems)
    for (const name of neededInQuery) if (!(name in values)) check(name, undefined, queryValidators, problems)
    if (!problems.has(...neededInQuery) && !isQuery(values))
      throw new Error('A query that passed field by field fails as a whole.')
    return { path: params, query: values, body: readBody(sent, problems) }
  }
}

/** How many items the lists of a body may have, by their names. */
export function listBounds(body: Fields): Map<string, number> {
  const lists = Object.entries(body).filter(([, { type }]) => type === 'array')
  return new Map(
    lists.map(([name, { maxItems }]) => {
      if (typeof maxItems !== 'number') throw new Error(`The list ${name} of a body has no maxItems.`)
      return [name, maxItems]
    }),
  )
}

const pathValidators = validators(pathParameters)

function validators(schemas: Fields): Validators {
  return new Map(
    Object.entries(schemas).map(([name, schema]) => {
      const { 'x-rule': rule, type } = schema
      if (typeof rule !== 'string') throw new Error(`The parameter ${name} has no x-rule.`)
      return [name, { isValid: validator(schema), rule, isInteger: type === 'integer' }]
    }),
  )
}

function namesNeeded(fields: Fields): string[] {
  return Object.keys(fields).filter((name) => !isOptional(fields[name]))
}

function check(field: string, value: unknown, fields: Validators, problems: Problems): boolean {
  const known = fields.get(field)
  if (known?.isValid(value)) return true
  const name = shorten(field)
  problems.add(name, known ? `${name} must be ${known.rule}` : `${name} is not a parameter of this request`)
  return false
}

/** A name that a client made up, as an answer repeats it. */
function shorten(name: string): string {
  return name.length > maxNameLength ? `${name.slice(0, maxNameLength).toWellFormed()}…` : name
}

const maxNameLength = 100

/** The query's valid values. Whatever else it holds becomes a problem: unknown, repeated, or against its rule. */
function readQuery(fields: Validators, query: Query, problems: Problems): Record<string, unknown> {
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

/** A query string taken apart. */
type Query = {
  values: ReadonlyMap<string, string>
  /** Names that stand in it more than once. */
  repeated: ReadonlySet<string>
  /** Its percent-encoding or its UTF-8 is broken; the rest means nothing then. */
  isBroken: boolean
}

const empty: Query = { values: new Map(), repeated: new Set(), isBroken: false }

/** Takes a query string apart as forms write it: `+` is a space, `%xx` is a byte of UTF-8. Never throws. */
export function parseQueryString(text: string): Query {
  if (text === '') return empty
  const values = new Map<string, string>()
  const repeated = new Set<string>()
  try {
    for (const pair of text.split('&')) {
      if (pair === '') continue
      const equals = pair.indexOf('=')
      const name = decode(equals < 0 ? pair : pair.slice(0, equals))
      if (values.has(name)) repeated.add(name)
      values.set(name, equals < 0 ? '' : decode(pair.slice(equals + 1)))
    }
  } catch {
    return { ...empty, isBroken: true }
  }
  return { values, repeated, isBroken: false }
}

/** The part of a request's URL behind the question mark. */
export function queryOf(url = ''): string {
  const mark = url.indexOf('?')
  return mark < 0 ? '' : url.slice(mark + 1)
}

function decode(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '))
}
