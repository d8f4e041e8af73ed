import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { isObject, listIn, objectIn, textIn } from '../../../support/answers.ts'

type Schema = Record<string, unknown>

/** A parameter as the OpenAPI document describes it. */
export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  schema: Schema
  /** Whether a text, taken out of a URL, is what the document says. */
  allows(text: string): boolean
}

/** An operation of the OpenAPI document. */
export interface Operation {
  /** Its method and path. */
  name: string
  method: string
  path: string
  parameters: Parameter[]
  /** Whether it is answered without a key. */
  isPublic: boolean
}

const document: unknown = JSON.parse(
  readFileSync(new URL('../../../../openapi/v1.json', import.meta.url), 'utf8'),
)
const ajv = new Ajv2020({ strict: false, unicodeRegExp: true })
addFormats.default(ajv)

/** Every operation there is, read from the document. */
export const operations: readonly Operation[] = Object.entries(objectIn(document, 'paths')).flatMap(
  ([path, item]) =>
    Object.keys(isObject(item) ? item : {}).map((method) =>
      toOperation(path, method, objectIn(item, method)),
    ),
)

export function operationNamed(name: string): Operation {
  const operation = operations.find((each) => each.name === name)
  if (!operation) throw new Error(`The document has no ${name}.`)
  return operation
}

function toOperation(path: string, method: string, operation: Schema): Operation {
  const parameters = 'parameters' in operation ? listIn(operation, 'parameters').map(toParameter) : []
  return {
    name: `${method.toUpperCase()} ${path}`,
    method: method.toUpperCase(),
    path,
    parameters,
    isPublic: Array.isArray(operation.security) && operation.security.length === 0,
  }
}

function toParameter(value: unknown): Parameter {
  const found = isObject(value) && typeof value.$ref === 'string' ? lookUp(value.$ref) : value
  const schema = objectIn(found, 'schema')
  const place = textIn(found, 'in')
  if (place !== 'path' && place !== 'query' && place !== 'header') throw new Error(`A parameter in ${place}.`)
  const validate = ajv.compile(schema)
  const isInteger = schema.type === 'integer'
  return {
    name: textIn(found, 'name'),
    in: place,
    schema,
    allows: (text) => validate(isInteger && /^(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : text),
  }
}

function lookUp(reference: string): unknown {
  return reference
    .slice(2)
    .split('/')
    .reduce<unknown>((inner, name) => (isObject(inner) ? inner[name] : undefined), document)
}
