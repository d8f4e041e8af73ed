import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { dataOf } from '../../../support/answers.ts'
import { openRawConnection } from '../../../support/raw-http.ts'
import { seededRandom } from '../../../support/seeded-random.ts'
import { hold, holdShare } from '../hold.ts'
import { askAll } from './ask-all.ts'
import { attack } from './attack.ts'
import { type GeneratedRequest, generatedRequest, requestFor } from './generated-request.ts'
import { hearOut } from './hear-out.ts'
import { assertAnswer, judge } from './judge.ts'
import { operations } from './operations.ts'
import { assertNothingFailed, bytesOf, startTarget } from './target-service.ts'

/** How much to try: about 15 requests come together in a run, and so many runs make a test. */
export interface RequestPlan {
  tests: number
  runs: number
  leastRequests: number
  /** Whether every refusal that no store is asked for is looked for until it is met; what comes by itself is judged in any case. */
  meetsRefusals: boolean
  attacks: number
  hangUps: number
  /** How long a test may take, in milliseconds. */
  timeout?: number
}

export async function requestTests({
  tests,
  runs,
  leastRequests,
  meetsRefusals,
  attacks,
  hangUps,
  ...timing
}: RequestPlan): Promise<void> {
  const target = await startTarget({ after })

  describe('requests generated from the document and against it', () => {
    const seen = new Set<string>()
    let count = 0
    let isWhole = true
    let runsDone = 0
    const requests = fc.array(generatedRequest(target.known), { minLength: 1, maxLength: 30, size: 'max' })

    /** Sends requests together, and looks at each answer. */
    async function play(some: readonly GeneratedRequest[]): Promise<void> {
      if (!isWhole) await target.refill()
      const sent = some.map((request) => ({ text: bytesOf(target, request), method: request.method }))
      const answers = await askAll(target.url, sent)
      answers.forEach((answer, i) => {
        const request = some[i]
        assert.ok(request)
        judge(request, answer)
        if (request.oddity === null) seen.add(`${request.operation} ${answer.status}`)
      })
      count += answers.length
      isWhole = !answers.some((answer, i) => some[i]?.method === 'DELETE' && answer.status === 200)
      assertNothingFailed(target)
    }

    /** Most have been seen before; what was not is looked for. */
    async function playUntil(outcome: string, requests: fc.Arbitrary<GeneratedRequest>): Promise<void> {
      const { seed } = seededRandom()
      for (let attempt = 0; attempt < 60 && !seen.has(outcome); attempt++)
        await play(fc.sample(requests, { numRuns: 25, seed: seed + attempt }))
      assert.ok(seen.has(outcome), `nothing led to ${outcome}`)
    }

    for (let test = 1; test <= tests; test++) {
      it(`are each answered as documented, and nothing fails (${test} of ${tests})`, async (t) => {
        runsDone += await holdShare(t, fc.asyncProperty(requests, play), { runs, ...timing })
      })
    }

    it('go on from any cursor that can be made up, or are refused, and nothing fails', async () => {
      const sent = target.forgedTargets.map((path) => ({
        text: `GET ${path} HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer ${target.keys.full}\r\n\r\n`,
        method: 'GET',
      }))
      const answers = await askAll(target.url, sent)
      answers.forEach((answer, i) => {
        assertAnswer('GET', target.forgedTargets[i] ?? '', answer)
        assert.ok(answer.status === 200 || answer.status === 422, `${answer.status} for a cursor`)
      })
      assertNothingFailed(target)
    })

    it('were many, and met everything that the document speaks of', async (t) => {
      t.diagnostic(`${count} requests`)
      assert.ok(count >= (leastRequests * runsDone) / tests, `only ${count} requests`)
      for (const operation of operations) {
        const always = meetsRefusals ? [200, 400, 401, 403, 422] : [200]
        const ofItsOwn = operation.path.includes('{trackerId}') ? [...always, 404] : always
        const generated = requestFor(operation, target.known)
        for (const status of operation.isPublic ? [200] : ofItsOwn)
          await playUntil(`${operation.name} ${status}`, generated)
      }
    })
  })

  const skip = attacks === 0 && 'no store is asked for them'
  describe('bytes that are hardly a request, or two in one,', { skip }, () => {
    it('are answered in the envelope, and what was hidden in them is not', async (t) => {
      const property = fc.asyncProperty(attack, async ({ text, isAmbiguous }) => {
        const answers = await hearOut(target.url, text)
        const method = /^\s*(HEAD|CONNECT) /.test(text) ? 'BROKEN' : 'GET'
        // One byte made otherwise can be enough to ask for the page at the root.
        const path = /^GET \/(?:[?#]\S*)? HTTP/.test(text) ? '/' : '/v1/unknown'
        for (const answer of answers) assertAnswer(method, path, answer)
        if (isAmbiguous) assert.equal(answers.length, 1, 'what was hidden was answered')
        else if (/[^\r\n]/.test(text)) assert.ok(answers.length > 0, 'no answer')
        for (const { status } of isAmbiguous ? answers : []) assert.ok(status === 400 || status === 401)
        assertNothingFailed(target)
      })
      await hold(t, property, { runs: attacks, ...timing })
    })
  })

  describe('clients who are gone before their answer', () => {
    it('end no process and leave no failure behind, whatever they had sent by then', async (t) => {
      const uncaught: unknown[] = []
      const note = (error: unknown) => uncaught.push(error)
      const signs = ['uncaughtException', 'unhandledRejection']
      for (const sign of signs) process.on(sign, note)
      t.after(() => signs.map((sign) => process.off(sign, note)))
      const sent = fc.oneof(
        fc
          .array(generatedRequest(target.known), { minLength: 1, maxLength: 3 })
          .map((some) => some.map((each) => bytesOf(target, each)).join('')),
        attack.map(({ text }) => text),
        fc.constant('CONNECT test:443 HTTP/1.1\r\nHost: test\r\n\r\n'),
      )
      const property = fc.asyncProperty(sent, fc.nat(100), fc.nat(3), async (text, percent, turns) => {
        const connection = await openRawConnection(target.url)
        connection.send(text.slice(0, Math.ceil((text.length * (percent < 50 ? 100 : percent)) / 100)))
        for (let turn = 0; turn < turns; turn++) await nextTurn()
        connection.reset()
        assert.deepEqual(uncaught, [])
        assertNothingFailed(target)
      })
      await hold(t, property, { runs: hangUps, ...timing })
      dataOf(await target.ask('/readyz'))
      assert.deepEqual(uncaught, [])
    })
  })
}
