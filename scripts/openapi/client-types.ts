import { isObject } from '../../src/domain/json.ts'

type Json = Record<string, unknown>

/**
 * The types of `@lethe/client` and their type guards, as TypeScript generated from the OpenAPI document: its
 * components, and the query of each operation. A schema that cannot be expressed as a type is an error, so
 * that nothing is omitted silently.
 */
export function clientTypes(document: unknown): string {
  // The client unwraps envelopes and returns their data.
  const schemas = Object.entries(objectIn(objectIn(document, 'components'), 'schemas')).filter(
    ([name]) => !/Envelope$|^OpenApiDocument$/.test(name),
  )
  const parts = [
    '// Written by `npm run openapi` from openapi/v1.json; a change here is lost.',
    ...interfaces(schemas),
    ...operations(document).flatMap(queryInterface),
    objectGuard,
    ...schemas.map(([name, schema]) => guardOf(name, object(schema))),
  ]
  return `${parts.join('\n\n')}\n`
}

/** The types of the console's pages: the data of the responses to their requests. */
export function consoleTypes(schemas: Json): string {
  const heading = '// Written by `npm run openapi` from the routes of the console; a change here is lost.'
  return `${[heading, ...interfaces(Object.entries(schemas))].join('\n\n')}\n`
}

function interfaces(schemas: [name: string, schema: unknown][]): string[] {
  return schemas.map(([name, schema]) => interfaceOf(name, object(schema)))
}

const objectGuard = `export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}`

function interfaceOf(name: string, schema: Json): string {
  return `${comment(schema.description)}export interface ${name} ${typeOf(schema, '')}`
}

/** The query parameters of a request, including those of its page. */
function queryInterface(operation: Json): string[] {
  const parameters = list(operation.parameters ?? [])
    .map(object)
    .filter((parameter) => parameter.in === 'query')
  if (parameters.length === 0) return []
  const operationId = text(operation.operationId)
  const name = `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}Query`
  const fields = parameters.map(
    ({ name, schema, description, required }) =>
      `${comment(description, '  ')}  ${text(name)}${required === true ? ': ' : '?: '}${typeOf(object(schema), '  ')}${required === true ? '' : ' | undefined'}\n`,
  )
  return [
    `/** What \`${operationId}\` takes in its query. */\nexport interface ${name} {\n${fields.join('')}}`,
  ]
}

function typeOf(schema: Json, indent: string): string {
  if (schema.$ref !== undefined) return referred(schema)
  if (schema.anyOf !== undefined)
    return list(schema.anyOf)
      .map((each) => typeOf(object(each), indent))
      .join(' | ')
  if (schema.enum !== undefined)
    return list(schema.enum)
      .map((each) => `'${text(each)}'`)
      .join(' | ')
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type
    case 'integer':
    case 'number':
      return 'number'
    case 'array':
      return listType(object(schema.items), indent)
    case 'object':
      return objectType(schema, indent)
  }
  throw new Error(`No type can be made of ${JSON.stringify(schema)}.`)
}

function listType(items: Json, indent: string): string {
  const type = typeOf(items, indent)
  return items.anyOf === undefined && items.enum === undefined ? `${type}[]` : `(${type})[]`
}

function objectType(schema: Json, indent: string): string {
  const { additionalProperties: others } = schema
  if (others === true) return 'Record<string, unknown>'
  if (isObject(others)) return `Record<string, ${typeOf(others, indent)}>`
  const inner = `${indent}  `
  const fields = Object.entries(objectIn(schema, 'properties')).map(([name, property]) => {
    const mark = isRequired(schema, name) ? '' : '?'
    return `${comment(object(property).description, inner)}${inner}${name}${mark}: ${typeOf(object(property), inner)}\n`
  })
  return `{\n${fields.join('')}${indent}}`
}

function guardOf(name: string, schema: Json): string {
  return `export function is${name}(value: unknown): value is ${name} {\n  return ${check(schema, 'value', '    ')}\n}`
}

/** An expression that is true if `value`, which is also an expression, matches the schema. */
function check(schema: Json, value: string, indent: string): string {
  if (schema.$ref !== undefined) return `is${referred(schema)}(${value})`
  if (schema.anyOf !== undefined)
    return `(${list(schema.anyOf)
      .map((each) => check(object(each), value, indent))
      .join(' || ')})`
  if (schema.enum !== undefined)
    return `(${list(schema.enum)
      .map((each) => `${value} === '${text(each)}'`)
      .join(` ||\n${indent}`)})`
  switch (schema.type) {
    case 'null':
      return `${value} === null`
    case 'integer':
    case 'number':
      return `typeof ${value} === 'number'`
    case 'array':
      return `Array.isArray(${value}) && ${value}.every((item) => ${check(object(schema.items), 'item', indent)})`
    case 'object':
      return objectCheck(schema, value, indent)
  }
  return `typeof ${value} === '${text(schema.type)}'`
}

function objectCheck(schema: Json, value: string, indent: string): string {
  const fields = Object.entries(objectIn(schema, 'properties')).map(([name, property]) => {
    const field = check(object(property), `${value}.${name}`, `${indent}  `)
    return isRequired(schema, name) ? field : `(${value}.${name} === undefined || (${field}))`
  })
  const { additionalProperties: others } = schema
  if (isObject(others))
    fields.push(`Object.values(${value}).every((item) => ${check(others, 'item', indent)})`)
  return [`isObject(${value})`, ...fields].join(` &&\n${indent}`)
}

function operations(document: unknown): Json[] {
  return Object.values(objectIn(document, 'paths')).flatMap((path) => Object.values(object(path)).map(object))
}

function referred({ $ref }: Json): string {
  return text($ref).replace('#/components/schemas/', '')
}

function isRequired({ required = [] }: Json, name: string): boolean {
  return list(required).includes(name)
}

function comment(description: unknown, indent = ''): string {
  return description === undefined ? '' : `${indent}/** ${text(description)} */\n`
}

function objectIn(value: unknown, field: string): Json {
  return object(object(value)[field])
}

function object(value: unknown): Json {
  if (isObject(value)) return value
  throw new Error(`An object was expected, not ${JSON.stringify(value)}.`)
}

function list(value: unknown): unknown[] {
  if (Array.isArray(value)) return value
  throw new Error(`A list was expected, not ${JSON.stringify(value)}.`)
}

function text(value: unknown): string {
  if (typeof value === 'string') return value
  throw new Error(`Text was expected, not ${JSON.stringify(value)}.`)
}
