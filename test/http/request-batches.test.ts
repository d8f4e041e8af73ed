import assert from 'node:assert/strict'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { requestBatches } from '../../src/http/request-batches.ts'
import { RequestContext } from '../../src/http/request-context.ts'

function requests(count: number): RequestContext[] {
  const request = new IncomingMessage(new Socket())
  const response = new ServerResponse(request)
  const match = { kind: 'nothing', pipeline: 'key', path: null, params: {} } as const
  return Array.from({ length: count }, (_, index) => {
    return new RequestContext(String(index), null, request, response, match)
  })
}

describe('request batches', () => {
  it('run the requests of one turn together at its end, and share their reads', async () => {
    const batches: (readonly RequestContext[])[] = []
    const add = requestBatches((contexts) => batches.push(contexts))
    const [first, second, third] = requests(3)
    assert.ok(first && second && third)
    add(first)
    add(second)
    assert.deepEqual(batches, [])
    await nextTurn()
    add(third)
    await nextTurn()
    assert.deepEqual(batches, [[first, second], [third]])
    assert.equal(first.batch, second.batch)
    assert.notEqual(first.batch, third.batch)
  })

  it('start at 16 requests, before the turn ends', () => {
    const sizes: number[] = []
    const add = requestBatches((contexts) => sizes.push(contexts.length))
    for (const context of requests(40)) add(context)
    assert.deepEqual(sizes, [16, 16])
  })

  it('leave further requests to the next turn so that connections are not delayed, and skip none', async () => {
    const begun: string[] = []
    const add = requestBatches((contexts) => begun.push(...contexts.map(({ id }) => id)))
    const contexts = requests(200)
    for (const context of contexts.slice(0, 190)) add(context)
    assert.equal(begun.length, 64)
    await nextTurn()
    for (const context of contexts.slice(190)) add(context)
    assert.ok(begun.length <= 128, `${begun.length} in two turns`)
    while (begun.length < contexts.length) await nextTurn()
    assert.deepEqual(
      begun,
      contexts.map(({ id }) => id),
    )
  })
})
