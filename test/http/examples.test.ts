import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { exampleMeta } from '../../src/http/api/schemas/examples.ts'
import { createSample } from '../../src/operations/import/create-sample.ts'
import { startFrozenService } from '../robustness/fuzz/model/frozen-service.ts'
import { isObject, listIn, objectIn, textIn } from '../support/answers.ts'

const service = await startFrozenService({ after })
service.setClock(Date.parse(exampleMeta.timestamp))
const { issued } = await createSample(service.services)
const document: unknown = await (await fetch(`${service.url}/v1/analytics/openapi.json`)).json()

const operations = Object.entries(objectIn(document, 'paths')).flatMap(([path, item]) =>
  Object.entries(isObject(item) ? item : {}).map(([method, operation]) => ({
    method: method.toUpperCase(),
    path,
    operation: isObject(operation) ? operation : {},
  })),
)

interface Parameter {
  name: string
  in: string
  /** What is sent with the examples of the others. */
  example?: unknown
  /** What is sent without those in the query. */
  alone?: unknown
}

function parametersOf(operation: Record<string, unknown>): Parameter[] {
  const parameters = 'parameters' in operation ? listIn(operation, 'parameters') : []
  return parameters.map((parameter) => {
    const isShared = isObject(parameter) && '$ref' in parameter
    const own = isShared
      ? objectIn(objectIn(objectIn(document, 'components'), 'parameters'), 'X-Request-Id')
      : parameter
    const { examples } = objectIn(own, 'schema')
    const [alone] = Array.isArray(examples) ? examples : []
    return {
      name: textIn(own, 'name'),
      in: textIn(own, 'in'),
      ...(isObject(own) && 'example' in own && { example: own.example }),
      ...(alone !== undefined && { alone }),
    }
  })
}

/** Sends an operation's request with its examples, or of those in its query with one alone. */
async function send({ method, path, operation }: (typeof operations)[number], only?: Parameter) {
  const parameters = parametersOf(operation)
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent(String(parameters.find((each) => each.name === name)?.example)),
  )
  const query = parameters.filter((each) => each.in === 'query' && each.example !== undefined)
  const pairs = only ? [[only.name, only.alone]] : query.map(({ name, example }) => [name, example])
  const search = pairs.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join('&')
  const body = isObject(operation.requestBody)
    ? objectIn(objectIn(operation.requestBody, 'content'), 'application/json').example
    : undefined
  const response = await fetch(`${service.url}${filled}${search === '' ? '' : `?${search}`}`, {
    method,
    headers: {
      Authorization: `Bearer ${issued.keyString}`,
      'X-Request-Id': exampleMeta.requestId,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: await response.json() }
}

describe('the examples of the document, on the sample of npm start', () => {
  for (const each of operations) {
    const { method, path, operation } = each
    test(`${method} ${path} answers what the document says`, async () => {
      const { status, body } = await send(each)
      assert.equal(status, 200, JSON.stringify(body))
      const content = objectIn(objectIn(objectIn(operation, 'responses'), '200'), 'content')
      const { example } = objectIn(content, 'application/json')
      // The document is too long to stand in itself.
      if (textIn(operation, 'operationId') === 'readOpenApiDocument') assert.deepEqual(body, document)
      else assert.deepEqual(body, example)
    })

    for (const parameter of parametersOf(operation)) {
      test(`${method} ${path} has an example of ${parameter.name} that works`, async () => {
        assert.ok('example' in parameter || 'alone' in parameter, 'there is none')
        if ('alone' in parameter) {
          const { status, body } = await send(each, parameter)
          assert.equal(status, 200, JSON.stringify(body))
        }
      })
    }
  }
})
