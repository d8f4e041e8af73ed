import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../../src/domain/json.ts'

type Json = Record<string, unknown>

/** A parsed OpenAPI 3.1 document. */
export type OpenApiDocument = Readonly<Json>

// A request may only accept more than before; a response may only contain what it could contain before.
type Direction = 'request' | 'response'
type Walk = { direction: Direction; trail: readonly (readonly [unknown, unknown])[] }
type Compare = (where: string, was: Json, now: Json) => string[]

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']
const SCHEME_FIELDS = ['type', 'scheme', 'in', 'name']
const LOWER_BOUNDS = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties']
const UPPER_BOUNDS = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties']
// Patterns are compatible only if they are equal: comparing what they match is not worth the effort.
const EXACT = ['pattern', 'format', 'multipleOf', 'uniqueItems', 'prefixItems', 'contains', 'not']
const INTEGER_FORMATS: Json = { int32: 2 ** 31 - 1, int64: 2 ** 63 }
const ANY_NAME = '^.*$'

/**
 * One sentence for each change in `current` that could break a client written against `promised`; none when
 * compatible. Throws if a `$ref` has no target in its document, because its content is unknown.
 */
export function breakingChanges(promised: OpenApiDocument, current: OpenApiDocument): string[] {
  const [was, now] = [dereferenced(promised), dereferenced(current)]
  return [...new Set([...serverChanges(was, now), ...schemeChanges(was, now), ...operationChanges(was, now)])]
}

function serverChanges(was: Json, now: Json): string[] {
  const kept = basePaths(now)
  return basePaths(was)
    .filter((path) => !kept.includes(path))
    .map((path) => `The server path ${path} is gone, it is now ${kept.join(' or ')}.`)
}

// Each operator chooses the host; only the base path of the operations is promised. A server whose address is
// relative to the document promises none.
function basePaths(document: Json): string[] {
  const urls = list(document.servers).map((server) => String(record(server).url))
  return (urls.length > 0 ? urls : ['/']).map(
    (url) => url.replace(/^[^/]*\/\/[^/]*|^\.\.(?:\/\.\.)*/, '').replace(/\/+$/, '') || '/',
  )
}

function schemeChanges(was: Json, now: Json): string[] {
  const schemes = (document: Json) => record(document.components).securitySchemes
  return eachKept('The security scheme ', schemes(was), schemes(now), (where, promised, current) =>
    changed(where, promised, current, SCHEME_FIELDS),
  )
}

function operationChanges(was: Json, now: Json): string[] {
  return eachKept('', operations(was), operations(now), (where, promised, current) => [
    ...changed(where, promised, current, promised.operationId === undefined ? [] : ['operationId']),
    ...accessChanges(where, waysIn(promised), waysIn(current)),
    ...parameterChanges(`${where}: `, parameters(promised), parameters(current)),
    ...bodyChanges(`${where}: the request body`, promised.requestBody, current.requestBody),
    ...eachKept(`${where}: response `, promised.responses, current.responses, responseChanges),
  ])
}

/** The operations by method and path, each with the parameters and security of its path and document. */
function operations(document: Json): Json {
  const all = Object.entries(record(document.paths)).flatMap(([path, item]) => {
    const { parameters: shared, ...rest } = record(item)
    return METHODS.filter((method) => isObject(rest[method])).map((method) => {
      const own = record(rest[method])
      const every = [...list(shared), ...list(own.parameters)]
      return [`${method.toUpperCase()} ${path}`, { security: document.security, ...own, parameters: every }]
    })
  })
  return Object.fromEntries(all)
}

/** Each way to authenticate, as the schemes and scopes that it combines; empty for a public operation. */
function waysIn(operation: Json): string[][] {
  const scopes = list(operation['x-required-scope'])
  const ways = list(operation.security).map(record)
  return (ways.length > 0 ? ways : [{}]).map((way) => [
    ...new Set([...Object.keys(way), ...Object.values(way).flatMap(list), ...scopes].map(String)),
  ])
}

function accessChanges(where: string, was: string[][], now: string[][]): string[] {
  const said = (way: string[]) => (way.length > 0 ? `needed ${way.join(' with ')}` : 'was public')
  const asked = now.map((way) => way.join(' with ')).join(' or ')
  return was
    .filter((had) => !now.some((way) => way.every((need) => had.includes(need))))
    .map((had) => `${where} ${said(had)} and now needs ${asked}.`)
}

/** The parameters by location and name; the last one wins, which is that of the operation. */
function parameters(operation: Json): Json {
  const key = ({ in: place, name }: Json) => `${place} parameter ${place === 'header' ? lower(name) : name}`
  return Object.fromEntries(list(operation.parameters).map((one) => [key(record(one)), one]))
}

function parameterChanges(where: string, was: Json, now: Json): string[] {
  const added = Object.keys(now).filter((key) => !Object.hasOwn(was, key))
  const demanded = added.filter((key) => record(now[key]).required === true)
  return [
    ...eachKept(where, was, now, (at, promised, current) => [
      ...changed(at, promised, current, ['style', 'explode']),
      ...(current.required === true && promised.required !== true ? [`${at} is now required.`] : []),
      ...schemaChanges(at, promised.schema, current.schema, { direction: 'request', trail: [] }),
    ]),
    ...demanded.map((key) => `${where}${key} is new and required.`),
  ]
}

function bodyChanges(where: string, was: unknown, now: unknown): string[] {
  if (was && !now) return [`${where} is gone.`]
  const [promised, current] = [record(was), record(now)]
  return [
    ...(current.required === true && promised.required !== true ? [`${where} is now required.`] : []),
    ...contentChanges(where, promised.content, current.content, 'request'),
  ]
}

function responseChanges(where: string, was: Json, now: Json): string[] {
  return [
    ...eachKept(`${where}, header `, lowerCased(was.headers), lowerCased(now.headers), headerChanges),
    ...contentChanges(where, was.content, now.content, 'response'),
  ]
}

function headerChanges(where: string, was: Json, now: Json): string[] {
  return [
    ...(was.required === true && now.required !== true ? [`${where} is no longer always there.`] : []),
    ...schemaChanges(where, was.schema, now.schema, { direction: 'response', trail: [] }),
  ]
}

function contentChanges(where: string, was: unknown, now: unknown, direction: Direction): string[] {
  return eachKept(`${where}, `, was, now, (at, promised, current) =>
    schemaChanges(`${at} $`, promised.schema, current.schema, { direction, trail: [] }),
  )
}

/** Compares the entries with the same name in both, and reports those that only `was` has. */
function eachKept(where: string, was: unknown, now: unknown, compare: Compare): string[] {
  const current = record(now)
  return Object.entries(record(was)).flatMap(([name, promised]) => {
    const at = `${where}${name}`
    return isObject(current[name]) ? compare(at, record(promised), current[name]) : [`${at} is gone.`]
  })
}

// Possible values must fit the expected ones: promised into current for a request, the reverse for a
// response.
function schemaChanges(where: string, was: unknown, now: unknown, { direction, trail }: Walk): string[] {
  if (trail.some(([one, other]) => one === was && other === now)) return []
  const walk: Walk = { direction, trail: [...trail, [was, now]] }
  const [promised, current] = [alternatives(was), alternatives(now)]
  const [coming, expected] = oriented(direction, promised, current)
  // A default where none was promised only documents the previous behaviour.
  const defaults = direction === 'request' && promised[0]?.default !== undefined ? ['default'] : []
  return [
    ...changed(where, promised[0] ?? {}, current[0] ?? {}, defaults),
    ...coming.flatMap((one) => misfits(where, one, expected, walk)),
  ]
}

/** Converts promised and current to possible and expected, and back. */
function oriented<T>(direction: Direction, one: T, other: T): [T, T] {
  return direction === 'request' ? [one, other] : [other, one]
}

function misfits(where: string, coming: Json, expected: Json[], walk: Walk): string[] {
  const tries = expected.filter((one) => sameKind(coming, one)).map((one) => misfit(where, coming, one, walk))
  const closest = tries.toSorted((one, other) => one.length - other.length)[0]
  if (closest) return closest
  const kinds = [...new Set(expected.map(described))].join(' or ')
  return walk.direction === 'request'
    ? [`${where} no longer accepts ${described(coming)}, only ${kinds}.`]
    : [`${where} may now be ${described(coming)}, where ${kinds} was promised.`]
}

function sameKind(coming: Json, expected: Json): boolean {
  if ('const' in expected) return 'const' in coming && isDeepStrictEqual(coming.const, expected.const)
  const types = [undefined, coming.type, coming.type === 'integer' ? 'number' : coming.type]
  return types.includes(expected.type)
}

function misfit(where: string, coming: Json, expected: Json, walk: Walk): string[] {
  const [was, now] = oriented(walk.direction, coming, expected)
  const outside = [
    ...LOWER_BOUNDS.filter((name) => Number(expected[name] ?? -Infinity) > Number(coming[name] ?? -Infinity)),
    ...UPPER_BOUNDS.filter((name) => Number(expected[name] ?? Infinity) < Number(coming[name] ?? Infinity)),
    ...EXACT.filter(
      (name) => expected[name] !== undefined && !(name === 'format' && holds(expected, coming)),
    ),
  ]
  return [
    ...changed(where, was, now, outside),
    ...('items' in was || 'items' in now ? schemaChanges(`${where}[]`, was.items, now.items, walk) : []),
    ...propertyChanges(where, coming, expected, walk),
    ...mapChanges(where, was, now, walk),
  ]
}

/** Whether a format only states the width of an integer, and is wide enough for all possible values. */
function holds({ format }: Json, { type, minimum = -Infinity, maximum = Infinity }: Json): boolean {
  const largest = Number(INTEGER_FORMATS[String(format)])
  return type === 'integer' && Number(minimum) >= -largest && Number(maximum) <= largest
}

function propertyChanges(where: string, coming: Json, expected: Json, walk: Walk): string[] {
  const [was, now] = oriented(walk.direction, properties(coming), properties(expected))
  const gone = Object.keys(was).filter((name) => !Object.hasOwn(now, name))
  const demanded = list(expected.required).filter((name) => !list(coming.required).includes(name))
  const verdict = walk.direction === 'request' ? 'is now required' : 'is no longer always there'
  return [
    ...gone.map((name) => `${where}.${name} is gone.`),
    ...demanded.filter((name) => !gone.includes(String(name))).map((name) => `${where}.${name} ${verdict}.`),
    ...Object.keys(was)
      .filter((name) => !gone.includes(name))
      .flatMap((name) => schemaChanges(`${where}.${name}`, was[name], now[name], walk)),
  ]
}

function mapChanges(where: string, was: Json, now: Json, walk: Walk): string[] {
  const [promised, current] = [mapValues(was), mapValues(now)]
  if (promised === false || (promised === undefined && current === undefined)) return []
  if (current !== false) return schemaChanges(`${where}.*`, promised, current, walk)
  // Closing a list of named properties removes nothing from a response; closing a free-form map does.
  const freeForm = promised !== undefined || Object.keys(properties(was)).length === 0
  return walk.direction === 'request' || freeForm ? [`${where} no longer has room for other properties.`] : []
}

function properties(schema: Json): Json {
  const patterns = Object.entries(record(schema.patternProperties))
  const narrow = patterns.filter(([pattern]) => pattern !== ANY_NAME)
  return { ...record(schema.properties), ...Object.fromEntries(narrow) }
}

function mapValues(schema: Json): unknown {
  return record(schema.patternProperties)[ANY_NAME] ?? schema.additionalProperties
}

/**
 * The ways to be valid, each a schema with at most one type or one value, without unions and intersections.
 */
function alternatives(schema: unknown, above: readonly unknown[] = []): Json[] {
  if (schema === false || above.includes(schema)) return []
  const { allOf, anyOf, oneOf, type, enum: values, ...own } = record(schema)
  const flat = (member: unknown) => alternatives(member, [...above, schema])
  // The schema's own keywords come first, and the first keyword counts.
  const choices = [
    ...(type === undefined ? [] : [list(type).map((name) => ({ type: name }))]),
    ...(values === undefined ? [] : [list(values).map((value) => ({ const: value }))]),
    ...list(allOf).map(flat),
    ...[anyOf, oneOf].filter((union) => union !== undefined).map((union) => list(union).flatMap(flat)),
  ]
  return choices
    .reduce<Json[]>((ways, choice) => ways.flatMap((way) => choice.map((other) => both(way, other))), [own])
    .flatMap((way) => ('const' in way ? single(way, way.const) : [way]))
}

function both(one: Json, other: Json): Json {
  const required = [...list(one.required), ...list(other.required)]
  const named = { ...record(other.properties), ...record(one.properties) }
  return { ...other, ...one, required, properties: named }
}

/** One value with the type and bounds that follow from it; nothing if the type excludes it. */
function single(schema: Json, value: unknown): Json[] {
  const type = typeName(value)
  if (!sameKind({ type }, { type: schema.type })) return []
  if (typeof value === 'number') return [{ ...schema, type, minimum: value, maximum: value }]
  const length = [...String(value)].length
  return [{ ...schema, type, ...(type === 'string' && { minLength: length, maxLength: length }) }]
}

function typeName(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : typeof value
}

function described(schema: Json): string {
  return 'const' in schema ? JSON.stringify(schema.const) : String(schema.type ?? 'any value')
}

function changed(where: string, was: Json, now: Json, fields: string[]): string[] {
  const shown = (value: unknown) => (value === undefined ? 'unset' : JSON.stringify(value))
  return fields
    .filter((field) => !isDeepStrictEqual(was[field], now[field]))
    .map((field) => `${where}: ${field} went from ${shown(was[field])} to ${shown(now[field])}.`)
}

/** A copy in which every `$ref` is its target; a recursive schema becomes a circular object. */
function dereferenced(document: OpenApiDocument): Json {
  const targets = new Map<string, Json>()
  const follow = (pointer: string): Json => {
    const known = targets.get(pointer)
    if (known) return known
    const target: Json = {}
    targets.set(pointer, target)
    return Object.assign(target, copy(lookUp(document, pointer)))
  }
  const copy = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(copy)
    if (!isObject(node)) return node
    const { $ref, ...beside } = node
    const rest = Object.fromEntries(Object.entries(beside).map(([name, value]) => [name, copy(value)]))
    if (typeof $ref !== 'string') return '$ref' in node ? { ...rest, $ref: copy($ref) } : rest
    const says = Object.keys(rest).some((name) => name !== 'description' && name !== 'summary')
    return says ? { allOf: [follow($ref)], ...rest } : follow($ref)
  }
  return record(copy(document))
}

function lookUp(document: OpenApiDocument, pointer: string): Json {
  const steps = pointer.split('/').slice(1)
  const found = steps.reduce<unknown>((node, step) => {
    return record(node)[decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')]
  }, document)
  if (pointer.startsWith('#/') && isObject(found)) return found
  throw new Error(`${pointer} leads to nothing in the document.`)
}

function record(value: unknown): Json {
  return isObject(value) ? value : {}
}

function list(value: unknown): unknown[] {
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? value : [value]
}

function lower(value: unknown): string {
  return String(value).toLowerCase()
}

function lowerCased(headers: unknown): Json {
  return Object.fromEntries(Object.entries(record(headers)).map(([name, header]) => [lower(name), header]))
}
