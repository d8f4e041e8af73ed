import { LetheError, type Problems } from '../domain/errors.ts'
import { identifierPattern, identifierRule, maxIdentifierLength } from '../domain/identifier.ts'
import { type Fields, isOptional, text, validator } from './schema.ts'

// `x-rule` describes the schema in words for the message of a `validation_error`.

export const identifier = {
  minLength: 1,
  maxLength: maxIdentifierLength,
  pattern: identifierPattern,
  'x-rule': identifierRule,
}

/** All parameters of paths. */
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
  tokenId: text(identifier),
  memberId: text(identifier),
  signInId: text(identifier),
  batchId: text(identifier),
  requestId: text({ ...identifier, description: 'The privacy request, a UUID.' }),
  noteId: text(identifier),
  // A credential ID, of up to 1,023 bytes.
  passkeyId: text({ minLength: 1, maxLength: 1_400, pattern: '^[\\w-]+$', 'x-rule': 'the ID of a passkey' }),
}

/** The decoded parameters of a path. */
export type PathParameters = Record<string, string>

type Validators = Map<string, { isValid(value: unknown): boolean; rule: string; isInteger: boolean }>

/** Reads path, query and body of a route, and collects problems. Public pages ignore the query. */
export function parameterReader(path: string, inQuery: Fields, body: Fields, isPublic: boolean) {
  const names = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => name)
  const unknown = names.find((name) => !pathValidators.has(name))
  if (unknown !== undefined) throw new Error(`The parameter ${unknown} of ${path} has no schema.`)
  const queryValidators = validators(inQuery)
  const bodyValidators = validators(body)
  const needed = namesNeeded(body)
  const neededInQuery = namesNeeded(inQuery)

  function readBody(sent: Record<string, unknown>, problems: Problems): Record<string, unknown> {
    for (const name of needed)
      if (!Object.hasOwn(sent, name)) check(name, undefined, bodyValidators, problems)
    const values: Record<string, unknown> = {}
    for (const name of Object.keys(sent))
      if (check(name, sent[name], bodyValidators, problems)) values[name] = sent[name]
    return values
  }

  return (query: Query, params: PathParameters, sent: Record<string, unknown>, problems: Problems) => {
    for (const name of names) check(name, params[name], pathValidators, problems)
    const sentQuery = isPublic ? empty : query
    for (const name of neededInQuery)
      if (!sentQuery.values.has(name)) check(name, undefined, queryValidators, problems)
    const values = readQuery(queryValidators, sentQuery, problems)
    return { path: params, query: values, body: readBody(sent, problems) }
  }
}

/** The maximum number of items of each list in a body. */
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
  if (known) problems.add(field, `${field} must be ${known.rule}`)
  else addUnknown(field, problems)
  return false
}

/** Adds the problem of a parameter that the request does not have. */
export function addUnknown(field: string, problems: Problems): void {
  const name = shorten(field)
  problems.add(name, `${name} is not a parameter of this request`)
}

/** Truncates an unknown parameter name for the response. */
function shorten(name: string): string {
  return name.length > maxNameLength ? `${name.slice(0, maxNameLength).toWellFormed()}…` : name
}

const maxNameLength = 100

/** The valid values of a query. Unknown, repeated and invalid parameters become problems. */
function readQuery(fields: Validators, query: Query, problems: Problems): Record<string, unknown> {
  if (query.isBroken)
    throw new LetheError('invalid_request', 'The query string has invalid percent-encoding.')
  const values: Record<string, unknown> = {}
  for (const [name, text] of query.values) {
    const value = fields.get(name)?.isInteger && /^(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : text
    if (query.repeated.has(name) && fields.has(name)) problems.add(name, `${name} must be given once`)
    else if (check(name, value, fields, problems)) values[name] = value
  }
  return values
}

export type Query = {
  values: ReadonlyMap<string, string>
  /** Names that occur more than once. */
  repeated: ReadonlySet<string>
  /** Whether the percent-encoding or the UTF-8 is invalid. The other fields are then empty. */
  isBroken: boolean
}

const empty: Query = { values: new Map(), repeated: new Set(), isBroken: false }

/** Parses a form-encoded query string: `+` is a space, `%xx` is a byte of UTF-8. Never throws. */
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

/** The part of a URL after the question mark. */
export function queryOf(url = ''): string {
  const mark = url.indexOf('?')
  return mark < 0 ? '' : url.slice(mark + 1)
}

/** Most texts have nothing to decode, and looking for it is cheaper. */
function decode(text: string): string {
  return text.includes('%') || text.includes('+') ? decodeURIComponent(text.replaceAll('+', ' ')) : text
}
