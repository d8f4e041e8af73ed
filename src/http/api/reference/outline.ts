import { isObject, type Json, list, object, resolver, text } from './markup.ts'

/** What the page tells, taken from the OpenAPI document: every reference in it is resolved. */
export interface Outline {
  title: string
  version: string
  summary: string
  description: string
  /** How a request shows its key. */
  authentication: string
  groups: Group[]
  headers: Header[]
  errors: Answer[]
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
  /** The scope it needs; `null` where it needs no key. */
  scope: string | null
  parameters: Parameter[]
  /** A body to send; `undefined` where none is taken. */
  exampleBody: unknown
  answers: Answer[]
}

export interface Parameter {
  name: string
  place: string
  isRequired: boolean
  description: string
  schema: Json
  /** A value for it that goes with those of the others; `null` where it is best left out. */
  example: string | null
}

export interface Answer {
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
    authentication: text(object(object(components.securitySchemes).apiKey).description),
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
      parameters: [
        ...list(operation.parameters).map((parameter) => readParameter(resolve(parameter))),
        ...readBody(operation),
      ],
      exampleBody: bodyOf(operation).example,
      answers: Object.entries(object(operation.responses)).map(([status, response]) =>
        readAnswer(status, resolve(response)),
      ),
    }
  }

  function bodyOf({ requestBody }: Json): Json {
    return isObject(requestBody) ? object(object(requestBody.content)['application/json']) : {}
  }

  /** The fields of the body of a request, as parameters. */
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

  function readParameter({ name, in: place, required, description, schema, example }: Json): Parameter {
    return {
      name: text(name),
      place: text(place),
      isRequired: required === true,
      description: text(description),
      schema: object(schema),
      example: example === undefined ? null : String(example),
    }
  }

  function readAnswer(status: string, response: Json): Answer {
    // An answer may have no body.
    const content = isObject(response.content) ? object(response.content['application/json']) : {}
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

  /** Each error once, with the status that the operations give it. */
  function readErrors(): Answer[] {
    const answers = operations.flatMap(({ operation }) => operation.answers)
    return Object.keys(object(components.responses)).flatMap(
      (code) => answers.find((answer) => answer.code === code) ?? [],
    )
  }
}
