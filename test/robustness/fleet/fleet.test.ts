import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { budgetOf, dataOf, errorOf } from '../../support/answers.ts'
import { freshStore } from '../../support/fresh-database.ts'
import { inReverse } from '../../support/in-reverse.ts'
import { noOwnRedis, startRedis } from '../../support/redis.ts'
import { subjectsPath } from '../../support/shop.ts'
import { until } from '../../support/until.ts'
import { createKey } from '../kill/server.ts'
import { buildShopAt } from '../kill/visits.ts'
import { changeVariables } from './change-variables.ts'
import { ask, clientAddress, type Fleet, limiterLines, startFleet } from './fleet.ts'
import { rotateKeys } from './rotate-keys.ts'
import { sweepByOne, sweepSeconds } from './sweep-by-one.ts'

const count = 150

describe('three processes on one PostgreSQL and one Redis', { skip: noOwnRedis }, () => {
  const lifetime = inReverse({ after })
  let fleet: Fleet
  before(async () => {
    const { url: redis } = await startRedis(lifetime)
    const store = await freshStore(lifetime)
    await buildShopAt(store)
    const env = { LETHE_SWEEP_SECONDS: String(sweepSeconds), LETHE_LIMIT_VARIABLES: '1000000/minute' }
    fleet = await startFleet(lifetime, { store, redis, env })
  })

  test('accept exactly 120 of 150 concurrent requests with one key from many addresses', async (t) => {
    const answers = await burst(t, fleet)
    const passed = answers.filter(({ status }) => status === 200)
    const refused = answers.filter(({ status }) => status !== 200)
    assert.deepEqual([passed.length, refused.length], [120, count - 120])
    for (const answer of passed) dataOf(answer)
    for (const answer of refused) {
      errorOf(answer, 'rate_limited')
      assert.partialDeepStrictEqual(budgetOf(answer), { limit: 120, remaining: 0 })
    }
    assert.equal(new Set(answers.map(({ headers }) => headers.get('x-request-id'))).size, count)
  })

  test('each refuse a rotated key’s old string in the next request, 6 times in a row', () =>
    rotateKeys(fleet, 6))

  test('each return changed variables in the next request, 6 times in a row', () => changeVariables(fleet, 6))

  test('sweep one at a time, and another takes over when that one is killed', (t) => sweepByOne(t, fleet))
})

/**
 * Sends all requests concurrently, spread over the fleet. If Redis is silent for 50 ms on a busy machine,
 * processes count for themselves, which proves nothing about sharing. Then it tries again with another key.
 */
async function burst(t: { diagnostic(message: string): void }, { cli, places }: Fleet) {
  const haveRedis = () => places.every(({ server }) => limiterLines(server).at(-1)?.state !== 'lost')
  for (let attempt = 0; attempt < 6; attempt++) {
    await until(haveRedis)
    const key = await createKey(cli, `key-${attempt}`)
    const answers = await Promise.all(
      Array.from({ length: count }, (_, number) => {
        const url = places[number % places.length]?.server.url ?? ''
        return ask(url, subjectsPath, { key, from: clientAddress((attempt + 1) * count + number) })
      }),
    )
    // Requests that a process counted by itself have no budget headers.
    if (answers.every(({ headers }) => headers.has('x-ratelimit-limit'))) return answers
    t.diagnostic('Redis was silent for too long on this busy machine; once more')
  }
  return assert.fail('Redis was silent for too long every time: this machine is too busy')
}
