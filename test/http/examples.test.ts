import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { exampleMeta } from '../../src/http/api/examples.ts'
import { createSample } from '../../src/operations/sample.ts'
import { startFrozenService } from '../robustness/fuzz/model/wire.ts'
import { type ExampleRequest, exampleRequests, exampleTarget } from '../support/example-requests.ts'

const service = await startFrozenService({ after })
service.setClock(Date.parse(exampleMeta.timestamp))
const { issued } = await createSample(service.services)
const document: unknown = await (await fetch(`${service.url}/v1/analytics/openapi.json`)).json()

async function send({ method, body }: ExampleRequest, target: string): Promise<unknown> {
  const response = await fetch(service.url + target, {
    method,
    headers: {
      Authorization: `Bearer ${issued.keyString}`,
      'X-Request-Id': exampleMeta.requestId,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const bytes = Buffer.from(await response.arrayBuffer())
  assert.equal(response.status, 200, bytes.toString())
  return response.headers.get('content-type')?.startsWith('application/json')
    ? JSON.parse(bytes.toString())
    : undefined
}

describe('the examples of the OpenAPI document, with the sample data of npm start', () => {
  for (const request of exampleRequests(document)) {
    const what = `${request.method} ${request.template}`
    test(`${what} returns the example of the document`, async () => {
      const answer = await send(request, exampleTarget(request))
      // The document cannot contain itself as an example.
      const expected = request.operationId === 'readOpenApiDocument' ? document : request.answer
      assert.deepEqual(answer, expected)
    })

    test(`${what} has an example of each parameter`, () => assert.deepEqual(request.without, []))

    for (const name of Object.keys(request.alone)) {
      test(`${what} accepts its example of ${name} ${name === 'cursor' ? 'with the others' : 'alone'}`, async () => {
        await send(request, exampleTarget(request, name))
      })
    }
  }
})
