import { isObject, listIn, objectIn, textIn } from './answers.ts'

type Values = Record<string, unknown>

/** A request of an operation, made from the examples in an OpenAPI document. */
export interface ExampleRequest {
  operationId: string
  method: string
  /** The path, with its parameters in braces. */
  template: string
  path: Values
  query: Values
  body: unknown
  /** Examples of query parameters that are sent on their own, by name. */
  alone: Values
  /** The names of the parameters that have no example. */
  without: string[]
  /** The example of its answer; `undefined` if the answer is a file. */
  answer: unknown
}

/** One request for each operation, in the order of the document. */
export function exampleRequests(document: unknown): ExampleRequest[] {
  return Object.entries(objectIn(document, 'paths')).flatMap(([template, item]) =>
    Object.entries(isObject(item) ? item : {}).map(([method, operation]) =>
      exampleRequest(document, method.toUpperCase(), template, isObject(operation) ? operation : {}),
    ),
  )
}

/**
 * The address of a request with the examples of its query, or with only one of the examples in `alone`. A
 * cursor is sent with the others, because it continues the list that they select.
 */
export function exampleTarget({ template, path, query, alone }: ExampleRequest, only?: string): string {
  const filled = template.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(path[name])))
  const values = only === undefined ? query : { ...(only === 'cursor' && query), [only]: alone[only] }
  const pairs = Object.entries(values).map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
  return pairs.length === 0 ? filled : `${filled}?${pairs.join('&')}`
}

function exampleRequest(
  document: unknown,
  method: string,
  template: string,
  operation: Record<string, unknown>,
): ExampleRequest {
  const request: ExampleRequest = {
    ...{ operationId: textIn(operation, 'operationId'), method, template },
    ...{ path: {}, query: {}, alone: {}, without: [] },
    body: isObject(operation.requestBody) ? exampleIn(operation.requestBody) : undefined,
    answer: exampleIn(objectIn(objectIn(operation, 'responses'), '200')),
  }
  for (const parameter of 'parameters' in operation ? listIn(operation, 'parameters') : []) {
    const own = isObject(parameter) && '$ref' in parameter ? shared(document, parameter) : parameter
    const name = textIn(own, 'name')
    const { examples } = objectIn(own, 'schema')
    if (Array.isArray(examples)) request.alone[name] = examples[0]
    else if (!isObject(own) || !('example' in own)) request.without.push(name)
    else if (own.in === 'path') request.path[name] = own.example
    else if (own.in === 'query') request.query[name] = own.example
  }
  return request
}

function exampleIn(value: Record<string, unknown>): unknown {
  const content = objectIn(value, 'content')
  return 'application/json' in content ? objectIn(content, 'application/json').example : undefined
}

function shared(document: unknown, reference: Record<string, unknown>): unknown {
  return textIn(reference, '$ref').split('/').slice(1).reduce<unknown>(objectIn, document)
}
