import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { dataOf } from '../../../support/answers.ts'
import { openRawConnection } from '../../../support/raw-http.ts'
import { seededRandom } from '../../../support/seeded-random.ts'
import { checkProperty, checkPropertyShare } from '../check-property.ts'
import type { ApiSurface } from './api-surface.ts'
import { attack } from './attack.ts'
import {
  type GeneratedRequest,
  generatedRequest,
  goodRequest,
  refusalsOf,
  refusedRequest,
} from './generated-request.ts'
import { assertAnswer, assertNothingFailed, judge, operationOf } from './judge.ts'
import { needsMore } from './operations.ts'
import { askAll, bytesOf, readUntilClosed } from './send.ts'
import type { Look, Surface } from './surface.ts'

/** How much to test: a run has about 15 requests, and a test has `runs` runs. */
interface RequestPlan {
  tests: number
  runs: number
  minRequests: number
  /** Whether to provoke every refusal. Those that occur anyway are always checked. */
  meetsRefusals: boolean
  /** The longest time for a test, in milliseconds. */
  timeout?: number
}

export function apiRequestTests(
  api: ApiSurface,
  plan: RequestPlan & { attacks: number; hangUps: number },
): void {
  describe('requests generated from the document, valid and invalid,', () => {
    requestTests(api, plan)
    forgedCursorTest(api)
  })
  attackTest(api, plan)
  hangUpTest(api, plan)
}

export function consoleRequestTests(surface: Surface, plan: RequestPlan): void {
  describe('generated requests to the console', () => requestTests(surface, plan))
}

function requestTests(surface: Surface, plan: RequestPlan): void {
  const { tests, runs, minRequests, meetsRefusals, timeout } = plan
  const requests = fc.array(generatedRequest(surface), { minLength: 1, maxLength: 30, size: 'max' })
  const seen = new Set<string>()
  let looks: { own: Look; theirs: Look } | null = null
  let count = 0
  let isChanged = false

  /** Sends requests pipelined or one by one, and checks each answer and what it changed. */
  async function play(some: readonly GeneratedRequest[]): Promise<void> {
    if (isChanged) await surface.renew()
    if (isChanged || !looks) looks = { own: await surface.look(), theirs: await surface.lookAtTheirs() }
    // After a failed run, the next one starts with a new organisation.
    surface.logged.length = 0
    isChanged = true
    let mayBeChanged = false
    for (const sent of surface.isPipelined ? [some] : some.map((request) => [request])) {
      const effects = await send(sent)
      if (effects.length === 0) continue
      const before = looks.own
      looks.own = await surface.look()
      assertChangedOnly(effects, before, looks.own)
      mayBeChanged = true
    }
    assertChangedOnly([], looks.own, await surface.look())
    assertChangedOnly([], looks.theirs, await surface.lookAtTheirs())
    assertNothingFailed(surface)
    isChanged = mayBeChanged
  }

  /** Sends requests, checks their answers and returns what they may have changed. */
  async function send(some: readonly GeneratedRequest[]): Promise<string[]> {
    const sent = some.map((request) => ({ text: bytesOf(surface, request), method: request.method }))
    const answers = await askAll(surface.url, sent)
    count += answers.length
    return some.flatMap((request, i) => {
      const answer = answers[i]
      assert.ok(answer)
      judge(surface, request, answer)
      const { operation, oddity } = request
      if (oddity !== 'target' && oddity !== 'method') seen.add(`${operation} ${answer.status}`)
      return surface.effectsOf(request, operationOf(surface, request), answer)
    })
  }

  /** Sends requests that should lead to each outcome that has not occurred yet, until all have. */
  async function playUntil(outcomes: Record<string, fc.Arbitrary<GeneratedRequest>>): Promise<void> {
    const { seed } = seededRandom()
    const unseen = () => Object.keys(outcomes).filter((outcome) => !seen.has(outcome))
    for (let attempt = 0; attempt < 60 && unseen().length > 0; attempt++) {
      const next = fc.tuple(...unseen().flatMap((outcome) => outcomes[outcome] ?? []))
      await play(fc.sample(next, { numRuns: 1, seed: seed + attempt }).flat())
    }
    assert.deepEqual(unseen(), [], 'nothing led there')
  }

  for (let test = 1; test <= tests; test++) {
    it(`are answered as documented and change only what they may, without failures (${test} of ${tests})`, async (t) => {
      const before = count
      const share = await checkPropertyShare(t, fc.asyncProperty(requests, play), {
        runs,
        ...(timeout && { timeout }),
      })
      t.diagnostic(`${count - before} requests`)
      assert.ok(count - before >= (minRequests * share) / tests, `only ${count - before} requests`)
    })
  }

  for (const operation of surface.operations) {
    const { name } = operation
    if (needsMore(operation)) continue
    it(`are accepted if they are valid: ${name}`, () =>
      playUntil({ [`${name} 200`]: goodRequest(operation, surface) }))
  }

  const skip = meetsRefusals ? false : 'a refusal is the same whatever the store'
  it('provoke every refusal of every operation', { skip }, () =>
    playUntil(
      Object.fromEntries(
        surface.operations.flatMap((operation) =>
          refusalsOf(operation, surface).map((status) => [
            `${operation.name} ${status}`,
            refusedRequest(operation, surface, status),
          ]),
        ),
      ),
    ),
  )
}

/** Fails if anything but these parts has changed. */
function assertChangedOnly(parts: readonly string[], before: Look, now: Look): void {
  const kept = (look: Look) => Object.entries(look).filter(([part]) => !parts.includes(part))
  assert.deepEqual(kept(now), kept(before))
}

function forgedCursorTest(api: ApiSurface): void {
  it('continue from any forged cursor or are refused, without failures', async () => {
    await api.renew()
    const sent = api.forgedTargets.map((path) => ({
      text: `GET ${path} HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer ${api.meanings.full}\r\n\r\n`,
      method: 'GET',
    }))
    const answers = await askAll(api.url, sent)
    answers.forEach((answer, i) => {
      assertAnswer('GET', api.forgedTargets[i] ?? '', answer)
      assert.ok(answer.status === 200 || answer.status === 422, `${answer.status} for a cursor`)
    })
    assertNothingFailed(api)
  })
}

function attackTest(api: Surface, { attacks, ...timing }: { attacks: number; timeout?: number }): void {
  const skip = attacks === 0 && 'no store is asked for them'
  describe('malformed and ambiguous requests', { skip }, () => {
    it('are answered in the envelope, and requests hidden in them are not', async (t) => {
      const property = fc.asyncProperty(attack, async ({ text, isAmbiguous }) => {
        const answers = await readUntilClosed(api.url, text)
        const method = /^\s*(HEAD|CONNECT) /.test(text) ? 'BROKEN' : 'GET'
        // One changed byte can be enough to request the page at the root.
        const path = /^GET \/(?:[?#]\S*)? HTTP/.test(text) ? '/' : '/v1/unknown'
        for (const answer of answers) assertAnswer(method, path, answer)
        if (isAmbiguous) assert.equal(answers.length, 1, 'what was hidden was answered')
        else if (/[^\r\n]/.test(text)) assert.ok(answers.length > 0, 'no answer')
        for (const { status } of isAmbiguous ? answers : []) assert.ok(status === 400 || status === 401)
        assertNothingFailed(api)
      })
      await checkProperty(t, property, { runs: attacks, ...timing })
    })
  })
}

function hangUpTest(api: Surface, { hangUps, ...timing }: { hangUps: number; timeout?: number }): void {
  describe('clients that disconnect before the answer', () => {
    it('cause no crash and no failure, whatever they have sent', async (t) => {
      const uncaught: unknown[] = []
      const note = (error: unknown) => uncaught.push(error)
      const signs = ['uncaughtException', 'unhandledRejection']
      for (const sign of signs) process.on(sign, note)
      t.after(() => signs.map((sign) => process.off(sign, note)))
      const sent = fc.oneof(
        fc
          .array(generatedRequest(api), { minLength: 1, maxLength: 3 })
          .map((some) => some.map((each) => bytesOf(api, each)).join('')),
        attack.map(({ text }) => text),
        fc.constant('CONNECT test:443 HTTP/1.1\r\nHost: test\r\n\r\n'),
      )
      const property = fc.asyncProperty(sent, fc.nat(100), fc.nat(3), async (text, percent, turns) => {
        const connection = await openRawConnection(api.url)
        connection.send(text.slice(0, Math.ceil((text.length * (percent < 50 ? 100 : percent)) / 100)))
        for (let turn = 0; turn < turns; turn++) await nextTurn()
        connection.reset()
        assert.deepEqual(uncaught, [])
        assertNothingFailed(api)
      })
      await checkProperty(t, property, { runs: hangUps, ...timing })
      dataOf(await api.ask('/readyz'))
      assert.deepEqual(uncaught, [])
    })
  })
}
