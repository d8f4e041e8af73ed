import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { consoleRoutes } from '../../../../src/http/console/routes.ts'
import { pathParameters } from '../../../../src/http/parameters.ts'
import { isOptional } from '../../../../src/http/schema.ts'
import { isObject, listIn, objectIn, textIn } from '../../../support/answers.ts'

type Schema = Record<string, unknown>

/** A parameter or a field of a body. */
export interface Field {
  name: string
  in: 'path' | 'query' | 'header' | 'body'
  schema: Schema
  isRequired: boolean
  /** Whether a value, or a text from a URL, matches the schema. */
  allows(value: unknown): boolean
}

/** An operation of the API, from its OpenAPI document, or of the console, from its routes. */
export interface Operation {
  /** Its method and path. */
  name: string
  method: string
  path: string
  fields: readonly Field[]
  /** The required scope, role or other access. */
  access: string
}

const ajv = new Ajv2020({ strict: false, unicodeRegExp: true })
addFormats.default(ajv)

function field(name: string, place: Field['in'], schema: Schema, isRequired: boolean): Field {
  // Compiled on first use: most schemas of the console are never needed.
  let validate: ((value: unknown) => boolean) | null = null
  const isText = place !== 'body'
  const read = (value: unknown) =>
    isText && schema.type === 'integer' && /^(0|[1-9]\d{0,15})$/.test(String(value)) ? Number(value) : value
  return {
    ...{ name, in: place, schema, isRequired },
    allows(value) {
      validate ??= ajv.compile(schema)
      return validate(read(value))
    },
  }
}

const document: unknown = JSON.parse(
  readFileSync(new URL('../../../../openapi/v1.json', import.meta.url), 'utf8'),
)

export const apiOperations: readonly Operation[] = Object.entries(objectIn(document, 'paths')).flatMap(
  ([path, item]) =>
    Object.keys(isObject(item) ? item : {}).map((method) =>
      documentedOperation(path, method, objectIn(item, method)),
    ),
)

function documentedOperation(path: string, method: string, operation: Schema): Operation {
  const parameters = 'parameters' in operation ? listIn(operation, 'parameters') : []
  return {
    name: `${method.toUpperCase()} ${path}`,
    method: method.toUpperCase(),
    path,
    fields: [...parameters.map(documentedParameter), ...documentedBody(operation.requestBody)],
    access: String(operation['x-required-scope'] ?? 'public'),
  }
}

function documentedParameter(value: unknown): Field {
  const found = resolve(value)
  const place = textIn(found, 'in')
  if (place !== 'path' && place !== 'query' && place !== 'header') throw new Error(`A parameter in ${place}.`)
  return field(textIn(found, 'name'), place, objectIn(found, 'schema'), Object(found).required === true)
}

function documentedBody(requestBody: unknown): Field[] {
  if (requestBody === undefined) return []
  const schema = resolve(Object(requestBody).content['application/json'].schema)
  const properties = Object.entries(objectIn(schema, 'properties'))
  return properties.map(([name, each]) =>
    // The lines of a batch are validated one by one, and too many get a 400.
    field(name, 'body', name === 'lines' ? { type: 'array' } : isObject(each) ? each : {}, false),
  )
}

function resolve(value: unknown): unknown {
  if (!isObject(value) || typeof value.$ref !== 'string') return value
  const names = value.$ref.slice(2).split('/')
  return names.reduce<unknown>((inner, name) => (isObject(inner) ? inner[name] : undefined), document)
}

const inPaths: Record<string, Schema> = pathParameters

export const consoleOperations: readonly Operation[] = consoleRoutes.map((route) => ({
  name: `${route.method} ${route.path}`,
  ...{ method: route.method, path: route.path, access: route.access },
  fields: [
    ...namesIn(route.path).map((name) => field(name, 'path', inPaths[name] ?? {}, true)),
    ...fieldsOf('query', route.query),
    ...fieldsOf('body', route.body),
  ],
}))

/** The names in braces in the path of an operation. */
export function namesIn(path: string): string[] {
  return Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => name)
}

function fieldsOf(place: 'query' | 'body', schemas: Record<string, Schema>): Field[] {
  return Object.entries(schemas).map(([name, schema]) => field(name, place, schema, !isOptional(schema)))
}

/** The fields of a request that its operation refuses; `'broken'` if the request cannot be parsed. */
export function problemsOf({ path, fields }: Operation, target: string, body: string): string[] | 'broken' {
  const allows = (place: Field['in'], name: string, value: unknown) =>
    fields.find((each) => each.in === place && each.name === name)?.allows(value) === true
  const [before = '', ...queries] = target.split('?')
  const problems: string[] = []
  try {
    const segments = before.split('/')
    path.split('/').forEach((segment, i) => {
      const [name] = namesIn(segment)
      if (name && !allows('path', name, decodeURIComponent(segments[i] ?? ''))) problems.push(name)
    })
    const seen = new Set<string>()
    for (const pair of queries.join('?').split('&')) {
      if (pair === '') continue
      const [name = '', ...values] = pair.split('=').map((text) => text.replaceAll('+', ' '))
      const decoded = decodeURIComponent(name)
      const value = decodeURIComponent(values.join('='))
      if (seen.has(decoded) || !allows('query', decoded, value)) problems.push(decoded)
      seen.add(decoded)
    }
  } catch {
    return 'broken'
  }
  const values: Record<string, unknown> = JSON.parse(Buffer.from(body, 'latin1').toString())
  // A list that is too long ends the parsing of the body before other fields are validated.
  const tooLong = fields.find(({ name, schema: { maxItems } }) => {
    const value = values[name]
    return typeof maxItems === 'number' && Array.isArray(value) && value.length > maxItems
  })
  if (tooLong) return [tooLong.name]
  return [...problems, ...Object.keys(values).filter((name) => !allows('body', name, values[name]))]
}

/** Routes that prove an identity or add a factor: they need the answer of a device to an earlier request. */
const needsDevice =
  /^(POST|DELETE) \/console\/api\/(sign-in\/(second-factor|passkey)|single-sign-on(\/finish)?|verification(\/single-sign-on)?|account\/(passkeys(\/\{passkeyId\}(\/rename)?)?|totp|recovery-codes|password))$/

/** Whether a single request cannot succeed. */
export function needsMore({ name }: Operation): boolean {
  return needsDevice.test(name)
}
