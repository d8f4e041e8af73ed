import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { budgetOf, dataOf, errorOf } from '../support/answers.ts'
import type { Answer } from '../support/documented.ts'
import { askRaw } from '../support/raw-http.ts'
import { type Shop, startShop, subjectPath, subjectsPath } from '../support/shop.ts'

const both = ['analytics:view', 'analytics:delete-data'] as const
const minute = 60_000
const day = 1_440 * minute

const read = ({ ask, key }: Shop) => ask(subjectsPath, { key })
const erase = ({ ask, key }: Shop) => ask(subjectPath('anna'), { method: 'DELETE', key })

/** Advances the clock to the time in `X-RateLimit-Reset`. */
function waitForReset({ services, passTime }: Shop, answer: Answer): void {
  passTime(Math.max(0, budgetOf(answer).reset * 1_000 - services.clock()))
}

describe('X-RateLimit headers', () => {
  const tightest: [what: string, env: Record<string, string>, reads: number, erasures: number][] = [
    [
      'the fewest remaining: the address',
      { LETHE_LIMIT_IP: '3/minute', LETHE_LIMIT_KEY: '4/minute', LETHE_LIMIT_ERASURE: '5/hour' },
      3,
      3,
    ],
    [
      'the fewest remaining: the key',
      { LETHE_LIMIT_IP: '4/minute', LETHE_LIMIT_KEY: '3/minute', LETHE_LIMIT_ERASURE: '5/hour' },
      3,
      3,
    ],
    [
      'the fewest remaining: the erasures, on an erasure alone',
      { LETHE_LIMIT_IP: '5/minute', LETHE_LIMIT_KEY: '4/minute', LETHE_LIMIT_ERASURE: '3/hour' },
      4,
      3,
    ],
  ]
  for (const [what, env, limitOfRead, limitOfErasure] of tightest) {
    test(`describe the budget with ${what}`, async (t) => {
      const shop = await startShop(t, { env, scopes: both })
      const reading = budgetOf(await read(shop))
      assert.deepEqual([reading.limit, reading.remaining], [limitOfRead, limitOfRead - 1])
      shop.passTime(day)
      const erasing = budgetOf(await erase(shop))
      assert.deepEqual([erasing.limit, erasing.remaining], [limitOfErasure, limitOfErasure - 1])
    })
  }

  const ties: [env: Record<string, string>, windowMs: number][] = [
    [{ LETHE_LIMIT_IP: '5/hour', LETHE_LIMIT_KEY: '5/minute', LETHE_LIMIT_ERASURE: '5/minute' }, 60 * minute],
    [{ LETHE_LIMIT_IP: '5/minute', LETHE_LIMIT_KEY: '5/minute', LETHE_LIMIT_ERASURE: '5/hour' }, 60 * minute],
    [{ LETHE_LIMIT_IP: '5/minute', LETHE_LIMIT_KEY: '5/day', LETHE_LIMIT_ERASURE: '5/hour' }, day],
  ]
  for (const [env, windowMs] of ties) {
    test(`describe the budget that resets last if several are equally tight: ${Object.values(env).join(', ')}`, async (t) => {
      const shop = await startShop(t, { env, scopes: both })
      const before = shop.services.clock()
      const { limit, remaining, reset } = budgetOf(await erase(shop))
      assert.deepEqual([limit, remaining], [5, 4])
      assert.ok(reset * 1_000 >= before + windowMs)
      assert.ok(reset * 1_000 <= shop.services.clock() + windowMs + 1_000)
    })
  }

  test('state the reset as a Unix timestamp in seconds, the same for a whole window', async (t) => {
    const shop = await startShop(t, { env: { LETHE_LIMIT_KEY: '9/minute' }, scopes: ['analytics:view'] })
    const now = shop.services.clock() / 1_000
    const { reset } = budgetOf(await read(shop))
    assert.ok(reset >= now + 60 && reset <= shop.services.clock() / 1_000 + 61)
    shop.passTime(30_000)
    assert.equal(budgetOf(await read(shop)).reset, reset)
    shop.passTime(30_000)
    assert.ok(budgetOf(await read(shop)).reset >= reset + 60)
  })

  test('are on every metered response, failures included', async (t) => {
    const shop = await startShop(t, { scopes: ['analytics:view'] })
    const { ask, key } = shop
    for (const answer of [
      await ask(subjectsPath, { key }),
      await ask(subjectsPath),
      await ask('/v1/nowhere'),
      await ask('/v1/nowhere', { key }),
      await ask(subjectsPath, { key, method: 'POST' }),
      await ask(subjectPath('anna'), { key, method: 'DELETE' }),
      await ask(subjectPath('nobody'), { key }),
      await ask(`${subjectsPath}?limit=0`, { key }),
      await ask(subjectsPath, { key, headers: { 'x-request-id': 'x'.repeat(201) } }),
      await ask(subjectsPath, { key, method: 'DELETE', body: 'x'.repeat(70_000) }),
      await ask(subjectsPath, { key, method: 'HEAD' }),
      await askRaw(shop.url, '/v1/%zz', { key }),
      await askRaw(shop.url, `${subjectsPath}/%zz`),
    ]) {
      assert.ok(budgetOf(answer).limit > 0)
      assert.equal(answer.headers.get('retry-after'), null)
    }
  })
})

describe('a client that stops at X-RateLimit-Remaining: 0 and waits for X-RateLimit-Reset', () => {
  const settings: Record<string, string>[] = [
    { LETHE_LIMIT_IP: '5/minute', LETHE_LIMIT_KEY: '3/hour', LETHE_LIMIT_ERASURE: '2/minute' },
    { LETHE_LIMIT_IP: '4/hour', LETHE_LIMIT_KEY: '4/minute', LETHE_LIMIT_ERASURE: '4/second' },
  ]
  for (const env of settings) {
    test(`never gets a 429 with ${Object.values(env).join(', ')}`, async (t) => {
      const shop = await startShop(t, { env, scopes: both })
      for (const ask of [read, erase]) {
        let waits = 0
        for (let i = 0; i < 12; i++) {
          const answer = await ask(shop)
          dataOf(answer)
          // Some time passes between two requests.
          shop.passTime(173)
          if (budgetOf(answer).remaining > 0) continue
          waits++
          waitForReset(shop, answer)
        }
        assert.ok(waits > 2)
        shop.passTime(day)
      }
    })
  }
})

describe('a 429 response', () => {
  const refusing: [what: string, env: Record<string, string>, seconds: number][] = [
    ['the address', { LETHE_LIMIT_IP: '2/minute' }, 60],
    ['the key', { LETHE_LIMIT_KEY: '2/minute' }, 60],
    ['the erasures', { LETHE_LIMIT_ERASURE: '2/hour' }, 3_600],
  ]
  for (const [what, env, seconds] of refusing) {
    test(`describes the budget that refused the request, and a retry after Retry-After succeeds: ${what}`, async (t) => {
      const shop = await startShop(t, { env, scopes: both })
      await erase(shop)
      await erase(shop)
      const refused = await erase(shop)
      errorOf(refused, 'rate_limited')
      assert.deepEqual([budgetOf(refused).limit, budgetOf(refused).remaining], [2, 0])
      const wait = Number(refused.headers.get('retry-after'))
      assert.ok(Number.isInteger(wait) && wait >= 1 && wait <= seconds && wait >= seconds - 10)
      shop.passTime(wait * 1_000)
      dataOf(await erase(shop))
    })
  }

  test('asks to wait for at least one second', async (t) => {
    const shop = await startShop(t, { env: { LETHE_LIMIT_KEY: '1/second' }, scopes: ['analytics:view'] })
    for (let i = 0; i < 2; i++) {
      let answer = await read(shop)
      while (answer.status === 200) {
        shop.passTime(37)
        answer = await read(shop)
      }
      errorOf(answer, 'rate_limited')
      assert.equal(answer.headers.get('retry-after'), '1')
      shop.passTime(1_000)
      dataOf(await read(shop))
      shop.passTime(1_000)
    }
  })

  test('is the only status with Retry-After, and has no body for HEAD', async (t) => {
    const shop = await startShop(t, { env: { LETHE_LIMIT_KEY: '1/minute' }, scopes: ['analytics:view'] })
    assert.equal((await read(shop)).headers.get('retry-after'), null)
    errorOf(await read(shop), 'rate_limited')
    assert.equal((await shop.ask(subjectsPath)).headers.get('retry-after'), null)
    const answer = await shop.ask(subjectsPath, { key: shop.key, method: 'HEAD' })
    assert.equal(answer.status, 429)
    assert.ok(Number(answer.headers.get('retry-after')) >= 1)
  })
})
