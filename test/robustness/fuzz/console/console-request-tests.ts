import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import fc from 'fast-check'
import { consoleRoutes } from '../../../../src/http/console/routes/index.ts'
import type { Route } from '../../../../src/http/request-context.ts'
import { scryptOnce } from '../../../support/scrypt-once.ts'
import { seededRandom } from '../../../support/seeded-random.ts'
import { holdShare } from '../hold.ts'
import { assertNothingFailed } from '../requests/target-service.ts'
import {
  type ConsoleRequest,
  goodRequest,
  nameOf,
  type Refusal,
  refusedRequest,
  requestsByRoute,
} from './console-request.ts'
import { assertChangedOnly, effectsOf } from './effects.ts'
import { judgeConsole } from './judge-console.ts'
import { meant, send } from './send.ts'
import { setStage } from './stage.ts'

/** How much to try: about 15 requests come behind each other in a run. */
export interface ConsolePlan {
  runs: number
  leastRequests: number
  /** Whether every refusal is looked for until it is met; what comes by itself is judged in any case. */
  meetsRefusals: boolean
  /** How long the test may take, in milliseconds. */
  timeout?: number
}

export async function consoleRequestTests({
  runs,
  leastRequests,
  meetsRefusals,
  ...timing
}: ConsolePlan): Promise<void> {
  // Nobody but this process reads the hashes.
  after(scryptOnce(16))
  const stage = await setStage({ after })
  let own = await stage.look()
  const theirs = await stage.lookAtTheirs()
  const seen = new Set<string>()
  let count = 0
  let isChanged = false

  /** Sends requests one behind the other, and looks at each answer and at what has changed with it. */
  async function play(requests: readonly ConsoleRequest[]): Promise<void> {
    if (isChanged) {
      await stage.renew()
      own = await stage.look()
    }
    // Should a request fail its test, the next ones begin anew.
    stage.logged.length = 0
    isChanged = true
    let mayBeChanged = false
    for (const request of requests) {
      const answer = await send(stage, request)
      count += 1
      judgeConsole(request, meant(stage), answer)
      const parts = effectsOf(request, answer)
      if (parts.length > 0) {
        const before = own
        own = await stage.look()
        assertChangedOnly(parts, before, own)
        mayBeChanged = true
      }
      const { route, oddity } = request
      if (oddity !== 'target' && oddity !== 'method') seen.add(`${route} ${answer.status}`)
    }
    assertChangedOnly([], own, await stage.look())
    assertChangedOnly([], theirs, await stage.lookAtTheirs())
    assertNothingFailed(stage)
    isChanged = mayBeChanged
  }

  describe('generated requests to the console', () => {
    it('are each answered as documented, change what they may, and tell nothing of others', async (t) => {
      const requests = fc.array(fc.oneof(...requestsByRoute), { minLength: 1, maxLength: 30, size: 'max' })
      const share = await holdShare(t, fc.asyncProperty(requests, play), { runs, ...timing })
      t.diagnostic(`${count} requests`)
      assert.ok(count >= leastRequests * share, `only ${count} requests`)
    })

    for (const route of consoleRoutes) {
      // A batch that runs ends by itself, so no request can count on one.
      if (route.path.endsWith('/pause')) continue
      it(`are taken when nothing is wrong with them: ${nameOf(route)}`, () =>
        playUntil({ [`${nameOf(route)} 200`]: goodRequest(route) }))
    }

    const skip = meetsRefusals ? false : 'a refusal is the same whatever the store'
    it('met every refusal of every route', { skip }, () =>
      playUntil(
        Object.fromEntries(
          consoleRoutes.flatMap((route) =>
            refusalsOf(route).map((status) => [`${nameOf(route)} ${status}`, refusedRequest(route, status)]),
          ),
        ),
      ),
    )
  })

  /** Many have been seen before; for each of the others a request is sent that should lead there, until all were. */
  async function playUntil(outcomes: Record<string, fc.Arbitrary<ConsoleRequest>>): Promise<void> {
    const { seed } = seededRandom()
    const unseen = () => Object.keys(outcomes).filter((outcome) => !seen.has(outcome))
    for (let attempt = 0; attempt < 60 && unseen().length > 0; attempt++) {
      const requests = fc.tuple(...unseen().flatMap((outcome) => outcomes[outcome] ?? []))
      await play(fc.sample(requests, { numRuns: 1, seed: seed + attempt }).flat())
    }
    assert.deepEqual(unseen(), [], 'nothing led there')
  }
}

function refusalsOf({ method, path, access }: Route): Refusal[] {
  const refusals: Refusal[] = [422]
  if (access === 'member') refusals.push(401)
  if (method !== 'GET') refusals.push(400, 403)
  if (path.includes('{')) refusals.push(404)
  return refusals
}
