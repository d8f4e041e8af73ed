import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { describe, it, type TestContext } from 'node:test'
import { pino } from 'pino'
import { LetheError } from '../../src/domain/errors.ts'
import { RequestContext, type Responder } from '../../src/http/request-context.ts'
import { responder } from '../../src/http/response.ts'
import { listen } from '../support/listen.ts'

const randomness = { uuid: () => randomUUID(), base62: (length: number) => 'x'.repeat(length) }

/** What a client receives, or the error, and what is logged. */
async function answered(
  t: TestContext,
  respond: (answer: Responder, context: RequestContext) => void,
  encoding = 'gzip',
) {
  const logged: string[] = []
  const logger = pino({ base: null }, { write: (line) => logged.push(line) })
  const answer = responder({
    ...{ clock: Date.now, randomness, logger, isClosing: () => false },
    ...{ onUnread() {}, unreadBytes: () => 0, spoolFolder: null },
  })
  const server = createServer((request, response) => {
    const match = { kind: 'nothing', pipeline: 'key', path: null, params: {} } as const
    respond(answer, new RequestContext('some id', null, request, response, match))
  })
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const port = await listen(server)
  const headers = { 'accept-encoding': encoding }
  const got = await fetch(`http://127.0.0.1:${port}`, { headers })
    .then(async (response) => ({ status: response.status, body: await response.text() }))
    .catch((error: Error) => error)
  return { got, logged: logged.join('') }
}

describe('a response', () => {
  it('is the only one to its request: a second one is dropped and logged', async (t) => {
    const { got, logged } = await answered(t, (answer, context) => {
      answer.succeed(context, { number: 1 })
      answer.succeed(context, { number: 2 })
      answer.fail(context, new Error('too late'))
    })
    assert.ok(!(got instanceof Error))
    assert.equal(got.status, 200)
    assert.match(got.body, /^\{"data":\{"number":1\}/)
    assert.equal(logged.match(/dropped a second response to a request/g)?.length, 2)
    assert.match(logged, /"requestId":"some id".*too late/)
  })

  it('that cannot be written is replaced with an error', async (t) => {
    const { got } = await answered(t, (answer, context) => {
      assert.throws(() => answer.write(context, 200, 'body', ['X-Broken', 'line\nfeed']))
      answer.fail(context, new Error('it was broken'))
    })
    assert.ok(!(got instanceof Error))
    assert.equal(got.status, 500)
  })

  it('is replaced with the end of the connection if the error cannot be written either', async (t) => {
    const { got, logged } = await answered(t, (answer, context) => {
      context.allow = 'GET\nPOST'
      answer.fail(context, new Error('no answer'))
    })
    assert.ok(got instanceof Error)
    assert.match(logged, /failed to send an error response/)
  })
})

describe('a streamed response', () => {
  for (const encoding of ['identity', 'gzip', 'zstd']) {
    it(`contains all pieces in order, however many had to wait (${encoding})`, async (t) => {
      const pieces = Array.from({ length: 24 }, (_, i) => `${String(i).repeat(150_000)}ä\n`)
      const stream = (answer: Responder, context: RequestContext) => {
        const made = answer.stream(context, async ({ add }) => {
          for (const piece of pieces) await add(piece)
        })
        made.catch(assert.ifError)
      }
      const { got } = await answered(t, stream, encoding)
      assert.ok(!(got instanceof Error))
      assert.equal(got.status, 200)
      assert.ok(got.body === pieces.join(''))
    })

    it(`ends the connection and is logged if it fails half way (${encoding})`, async (t) => {
      for (const before of ['{"data":', randomBytes(1_600_000).toString('base64')]) {
        const stream = (answer: Responder, context: RequestContext) => {
          const made = answer.stream(context, async ({ add }) => {
            await add(before)
            throw new Error('half way')
          })
          made.catch(assert.ifError)
        }
        const { got, logged } = await answered(t, stream, encoding)
        assert.ok(got instanceof Error, 'the client sees that it broke off')
        assert.match(logged, /failed to complete a response.*|half way/)
      }
    })
  }

  it('is an ordinary error response if it fails before the first piece', async (t) => {
    const { got } = await answered(t, (answer, context) => {
      const made = answer.stream(context, () => Promise.reject(new LetheError('not_found', 'Nobody.')))
      made.catch((error) => answer.fail(context, error))
    })
    assert.ok(!(got instanceof Error))
    assert.equal(got.status, 404)
  })
})
