import { isObject, listIn, objectIn, textIn } from './answers.ts'

type Values = Record<string, unknown>

/** A request of an operation, as the examples of an OpenAPI document make it. */
export interface ExampleRequest {
  operationId: string
  method: string
  /** With the names of its parameters in braces. */
  template: string
  path: Values
  query: Values
  body: unknown
  /** Examples that go without those of the query, by the names of their parameters. */
  alone: Values
  /** The parameters that have neither. */
  without: string[]
  /** The example of its answer; `undefined` if that is a file. */
  answer: unknown
}

/** One for each operation, in the order of the document. */
export function exampleRequests(document: unknown): ExampleRequest[] {
  return Object.entries(objectIn(document, 'paths')).flatMap(([template, item]) =>
    Object.entries(isObject(item) ? item : {}).map(([method, operation]) =>
      exampleRequest(document, method.toUpperCase(), template, isObject(operation) ? operation : {}),
    ),
  )
}

/**
 * The address of a request: with its examples, or of those in its query with one of those that go alone. A cursor does not go alone: it
 * continues the list that the others ask for.
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
