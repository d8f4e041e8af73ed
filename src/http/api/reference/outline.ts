import { isObject } from '../../../domain/json.ts'
import { type Json, list, object, resolver, text } from './markup.ts'

/** The content of the page, from the OpenAPI document with every reference resolved. */
export interface Outline {
  title: string
  version: string
  summary: string
  description: string
  /** How to send a credential. */
  authentication: string
  groups: Group[]
  headers: Header[]
  errors: ResponseOutline[]
}

export interface Group {
  name: string
  description: string
  operations: Operation[]
}

export interface Operation {
  id: string
  method: string
  path: string
  summary: string
  description: string
  /** The required scope; `null` if it needs no key. */
  scope: string | null
  /** Whether it needs a variable token. */
  takesToken: boolean
  parameters: Parameter[]
  /** An example body; `undefined` if it takes none. */
  exampleBody: unknown
  responses: ResponseOutline[]
}

export interface Parameter {
  name: string
  location: string
  isRequired: boolean
  description: string
  schema: Json
  /** An example that fits those of the other parameters; `null` if it is best omitted. */
  example: string | null
}

export interface ResponseOutline {
  status: string
  /** The error code; `null` for a success. */
  code: string | null
  description: string
  headers: string[]
  schema: Json
  example: unknown
}

export interface Header {
  name: string
  description: string
  schema: Json
}

export function outlineOf(document: Json): Outline {
  const resolve = resolver(document)
  const info = object(document.info)
  const components = object(document.components)
  const operations = Object.entries(object(document.paths)).flatMap(([path, item]) =>
    Object.entries(object(item)).map(([method, operation]) => ({
      tag: list(object(operation).tags)[0],
      operation: readOperation(method, path, object(operation)),
    })),
  )
  return {
    title: text(info.title),
    version: text(info.version),
    summary: text(info.summary),
    description: text(info.description),
    authentication: text(object(Object.values(object(components.securitySchemes))[0]).description),
    groups: list(document.tags)
      .map(object)
      .map(({ name, description }) => ({
        name: text(name),
        description: text(description),
        operations: operations.filter(({ tag }) => tag === name).map(({ operation }) => operation),
      })),
    headers: Object.entries(object(components.headers)).map(([name, header]) => ({
      name,
      description: text(object(header).description),
      schema: object(object(header).schema),
    })),
    errors: readErrors(),
  }

  function readOperation(method: string, path: string, operation: Json): Operation {
    return {
      id: text(operation.operationId),
      method: method.toUpperCase(),
      path,
      summary: text(operation.summary),
      description: text(operation.description),
      scope: typeof operation['x-required-scope'] === 'string' ? operation['x-required-scope'] : null,
      takesToken: list(operation.security).some((each) => 'variableToken' in object(each)),
      parameters: [
        ...list(operation.parameters).map((parameter) => readParameter(resolve(parameter))),
        ...readBody(operation),
      ],
      exampleBody: bodyOf(operation).example,
      responses: Object.entries(object(operation.responses)).map(([status, response]) =>
        readResponse(status, resolve(response)),
      ),
    }
  }

  function bodyOf({ requestBody }: Json): Json {
    return isObject(requestBody) ? object(object(requestBody.content)['application/json']) : {}
  }

  /** The fields of a request body, as parameters. */
  function readBody(operation: Json): Parameter[] {
    const { schema } = bodyOf(operation)
    const { properties, required } = isObject(schema) ? resolve(schema) : {}
    return Object.entries(isObject(properties) ? properties : {}).map(([name, value]) =>
      readParameter({
        ...{ name, in: 'body', required: Array.isArray(required) && required.includes(name) },
        ...{ description: object(value).description, schema: value },
      }),
    )
  }

  function readParameter({ name, in: location, required, description, schema, example }: Json): Parameter {
    return {
      name: text(name),
      location: text(location),
      isRequired: required === true,
      description: text(description),
      schema: object(schema),
      example: example === undefined ? null : String(example),
    }
  }

  function readResponse(status: string, response: Json): ResponseOutline {
    // A response may have no body, or be a file.
    const json = isObject(response.content) ? response.content['application/json'] : undefined
    const content = isObject(json) ? json : {}
    const { error } = isObject(content.example) ? content.example : {}
    return {
      status,
      code: isObject(error) ? text(error.code) : null,
      description: text(response.description),
      headers: Object.keys(object(response.headers)),
      schema: content.schema === undefined ? {} : resolve(content.schema),
      example: content.example,
    }
  }

  /** Each error once, with its status. */
  function readErrors(): ResponseOutline[] {
    const responses = operations.flatMap(({ operation }) => operation.responses)
    return Object.keys(object(components.responses)).flatMap(
      (code) => responses.find((response) => response.code === code) ?? [],
    )
  }
}
