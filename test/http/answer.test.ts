import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { describe, it, type TestContext } from 'node:test'
import { pino } from 'pino'
import { type AnswerWriter, answerWriter } from '../../src/http/answer.ts'
import { Moment, Visit } from '../../src/http/request-way.ts'

/** What a client gets, or why it gets nothing, and what is logged, when a request is answered so. */
async function answered(t: TestContext, respond: (answer: AnswerWriter, visit: Visit) => void) {
  const logged: string[] = []
  const logger = pino({ base: null }, { write: (line) => logged.push(line) })
  const answer = answerWriter({ clock: Date.now, logger, isClosing: () => false, onSend() {} })
  const server = createServer((request, response) => {
    respond(answer, new Visit('some id', null, request, response, {}, {}, new Moment()))
  })
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  const got = await fetch(`http://127.0.0.1:${address.port}`).then(
    async (response) => ({ status: response.status, body: await response.text() }),
    (error: Error) => error,
  )
  return { got, logged: logged.join('') }
}

describe('an answer', () => {
  it('is the only one to its request: another, good or bad, is dropped and logged', async (t) => {
    const { got, logged } = await answered(t, (answer, visit) => {
      answer.succeed(visit, { number: 1 })
      answer.succeed(visit, { number: 2 })
      answer.fail(visit, new Error('too late'))
    })
    assert.ok(!(got instanceof Error))
    assert.equal(got.status, 200)
    assert.match(got.body, /^\{"data":\{"number":1\}/)
    assert.equal(logged.match(/a second answer to a request was dropped/g)?.length, 2)
    assert.match(logged, /"requestId":"some id".*too late/)
  })

  it('that cannot be written leaves room for the failure', async (t) => {
    const { got } = await answered(t, (answer, visit) => {
      assert.throws(() => answer.write(visit, 200, 'body', ['X-Broken', 'line\nfeed']))
      answer.fail(visit, new Error('it was broken'))
    })
    assert.ok(!(got instanceof Error))
    assert.equal(got.status, 500)
  })

  it('of a failure that cannot be written either ends the connection', async (t) => {
    const { got, logged } = await answered(t, (answer, visit) => {
      visit.allow = 'GET\nPOST'
      answer.fail(visit, new Error('no answer'))
    })
    assert.ok(got instanceof Error)
    assert.match(logged, /a failure could not be answered/)
  })
})
