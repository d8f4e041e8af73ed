import assert from 'node:assert/strict'
import { after, describe, type TestContext, test } from 'node:test'
import { assertUnmetered, budgetOf, dataOf, errorOf, isObject } from '../support/answers.ts'
import type { Answer } from '../support/documented.ts'
import { askRaw } from '../support/raw-http.ts'
import { noOwnRedis, reusedRedis, slowProxy, startRedis, type TestRedis } from '../support/redis.ts'
import type { Lifetime } from '../support/service.ts'
import { type Shop, startShop, subjectPath, subjectsPath } from '../support/shop.ts'
import { until } from '../support/until.ts'

const skip = noOwnRedis
const freshRedis = skip ? () => assert.fail(skip) : await reusedRedis({ after })
const both = ['analytics:view', 'analytics:delete-data'] as const

function startShared(t: Lifetime, redis: TestRedis, env: Record<string, string> = {}): Promise<Shop> {
  return startShop(t, { env: { LETHE_LIMITER: redis.url, ...env }, scopes: both })
}

const read = ({ ask, key }: Shop) => ask(subjectsPath, { key })
const erase = ({ ask, key }: Shop) => ask(subjectPath('anna'), { method: 'DELETE', key })

const isMetered = ({ headers }: Answer) => headers.has('x-ratelimit-limit')

/** The level and message of each logged line about the limiter. */
function limiterLines({ logged }: Shop): unknown[] {
  return logged
    .map((line): unknown => JSON.parse(line))
    .filter((line) => isObject(line) && 'limiter' in line)
    .map((line) => (isObject(line) ? [line.level, line.msg] : null))
}

const lostLine = [40, 'the limiter cannot be reached: this process counts for itself']
const foundLine = [30, 'the limiter can be reached again']

type StartShared = (env?: Record<string, string>) => Promise<Shop>

/**
 * Runs a test on its own Redis, and again on another one if a busy machine made a service consider Redis
 * down.
 */
async function undisturbed(
  t: TestContext,
  play: (start: StartShared, redis: TestRedis) => Promise<void>,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const redis = await freshRedis()
    const shops: Shop[] = []
    const start: StartShared = async (env) => {
      const shop = await startShared(t, redis, env)
      shops.push(shop)
      return shop
    }
    try {
      return await play(start, redis)
    } catch (error) {
      if (attempt === 10 || shops.every((shop) => limiterLines(shop).length === 0)) throw error
    }
  }
}

describe('services on one Redis', { skip }, () => {
  test('share the budget of an address and report the same values', (t) =>
    undisturbed(t, async (start) => {
      const env = { LETHE_LIMIT_IP: '5/minute' }
      const [one, other] = [await start(env), await start(env)]
      const answers = [
        await read(one),
        await read(other),
        await read(one),
        await read(other),
        await read(one),
      ]
      for (const answer of answers) dataOf(answer)
      assert.deepEqual(
        answers.map((answer) => budgetOf(answer).remaining),
        [4, 3, 2, 1, 0],
      )
      assert.equal(new Set(answers.map((answer) => budgetOf(answer).reset)).size, 1)
      for (const shop of [one, other]) {
        const refused = await read(shop)
        errorOf(refused, 'rate_limited')
        assert.deepEqual([budgetOf(refused).limit, budgetOf(refused).remaining], [5, 0])
        const wait = Number(refused.headers.get('retry-after'))
        assert.ok(wait >= 1 && wait <= 60)
      }
    }))

  test('calculate Retry-After with the clock of Redis, whatever their own clocks show', (t) =>
    undisturbed(t, async (start) => {
      const shop = await start({ LETHE_LIMIT_KEY: '1/minute' })
      dataOf(await read(shop))
      for (const ms of [-3_600_000, 7_200_000]) {
        shop.passTime(ms)
        const refused = await read(shop)
        errorOf(refused, 'rate_limited')
        const wait = Number(refused.headers.get('retry-after'))
        assert.ok(wait > 30 && wait <= 60, `${wait}`)
      }
    }))
})

describe('the request pipeline, counted in Redis', { skip }, () => {
  test('has its steps in the usual order', (t) =>
    undisturbed(t, async (start, redis) => {
      const shop = await start({
        LETHE_LIMIT_IP: '8/minute',
        LETHE_LIMIT_KEY: '4/minute',
        LETHE_LIMIT_ERASURE: '1/hour',
      })
      const { ask, key } = shop
      const told = (answer: Answer) => [answer.status, budgetOf(answer).limit, budgetOf(answer).remaining]
      // Without a key, only the address is charged, and the response does not reveal whether the path exists.
      assert.deepEqual(told(await ask('/v1/nowhere')), [401, 8, 7])
      assert.deepEqual(told(await ask('/v1/nowhere', { key })), [404, 4, 3])
      // The erasure is charged before its parameters are checked.
      const wrong = await ask(`${subjectPath('anna')}?force=yes`, { method: 'DELETE', key })
      assert.deepEqual(told(wrong), [422, 1, 0])
      const refused = await erase(shop)
      assert.deepEqual(told(refused), [429, 1, 0])
      // That was the key's third request; the fourth is allowed, the fifth is refused and charges only the
      // address.
      assert.deepEqual(told(await read(shop)), [200, 4, 0])
      assert.deepEqual(told(await read(shop)), [429, 4, 0])
      assert.deepEqual(told(await read(shop)), [429, 4, 0])
      assert.deepEqual(told(await read(shop)), [429, 4, 0])
      assert.deepEqual(told(await read(shop)), [429, 8, 0])
      assert.match(String(await redis.ask('GET', `lethe:key:${shop.keyId}`)), /^4 /)
      assert.match(String(await redis.ask('GET', `lethe:erasure:${shop.keyId}`)), /^1 /)
      assert.match(String(await redis.ask('GET', 'lethe:ip:127.0.0.1')), /^8 /)
    }))

  test('does not count unmetered paths', async (t) => {
    const redis = await freshRedis()
    const shop = await startShared(t, redis)
    for (const path of ['/healthz', '/readyz', '/v1/analytics/openapi.json']) {
      assertUnmetered(await shop.ask(path))
    }
    assert.deepEqual(await redis.ask('KEYS', 'lethe:ip:*'), [])
  })
})

const downs: [what: string, down: (redis: TestRedis) => unknown, up: (redis: TestRedis) => unknown][] = [
  ['is gone', (redis) => redis.kill(), (redis) => redis.start()],
  ['hangs', (redis) => redis.pause(), (redis) => redis.resume()],
]

for (const [what, down, up] of downs) {
  describe(`while Redis ${what}`, { skip }, () => {
    test('requests continue without the headers until it recovers, and two lines are logged', async (t) => {
      const redis = await freshRedis()
      const shop = await startShared(t, redis)
      await until(async () => isMetered(await read(shop)))
      const before = limiterLines(shop).length
      await down(redis)
      const answers = await Promise.all(Array.from({ length: 10 }, () => read(shop)))
      answers.push(await erase(shop))
      for (const answer of answers) {
        dataOf(answer)
        assertUnmetered(answer)
      }
      for (const [path, status] of [
        ['/v1/nowhere', 404],
        [`${subjectsPath}?limit=0`, 422],
      ] as const) {
        const answer = await shop.ask(path, { key: shop.key })
        assert.equal(answer.status, status)
        assertUnmetered(answer)
      }
      assertUnmetered(await shop.ask(subjectsPath))
      assertUnmetered(await askRaw(shop.url, '/v1/%zz', { key: shop.key }))
      assert.deepEqual(limiterLines(shop).slice(before), [lostLine])
      await up(redis)
      await until(async () => isMetered(await read(shop)))
      assert.deepEqual(limiterLines(shop).slice(before), [lostLine, foundLine])
    })
  })
}

describe('while Redis is gone', { skip }, () => {
  test('each process applies the budgets by itself, and Retry-After is sent', async (t) => {
    const redis = await freshRedis()
    const env = { LETHE_LIMIT_KEY: '3/minute' }
    const [one, other] = [await startShared(t, redis, env), await startShared(t, redis, env)]
    await redis.kill()
    for (const shop of [one, other]) {
      for (let i = 0; i < 3; i++) dataOf(await read(shop))
      const refused = await read(shop)
      errorOf(refused, 'rate_limited')
      assert.equal(isMetered(refused), false)
      const wait = Number(refused.headers.get('retry-after'))
      assert.ok(wait >= 1 && wait <= 60)
      shop.passTime(wait * 1_000)
      dataOf(await read(shop))
    }
  })
})

describe('while Redis is slow', { skip }, () => {
  test('the steps of a request share one wait budget', async (t) => {
    const redis = await freshRedis()
    const proxy = await slowProxy(t, redis.port)
    const shop = await startShared(t, redis, { LETHE_LIMITER: proxy.url })
    await until(async () => isMetered(await erase(shop)))
    // One reply arrives in time; three do not.
    proxy.delayMs = 18
    await until(async () => !isMetered(await erase(shop)))
  })
})

describe('a service whose Redis is unreachable', { skip }, () => {
  test('starts, logs one line, and stops', async (t) => {
    const redis = await freshRedis()
    await redis.kill()
    const shop = await startShared(t, redis)
    const answer = await read(shop)
    dataOf(answer)
    assertUnmetered(answer)
    assert.deepEqual(limiterLines(shop), [lostLine])
    await shop.stop()
    await redis.start()
    assert.deepEqual(limiterLines(shop), [lostLine])
  })
})

describe('the password of a Redis', { skip }, () => {
  test('is never logged; its host and port are', async (t) => {
    const redis = await startRedis(t, ['--requirepass', 'sesame'])
    const shop = await startShared(t, redis, { LETHE_LIMITER: redis.url.replace('//', '//default:hunter2@') })
    dataOf(await read(shop))
    assert.deepEqual(limiterLines(shop), [lostLine])
    assert.doesNotMatch(shop.logged.join('\n'), /hunter2/)
    assert.ok(shop.logged.some((line) => line.includes(`"127.0.0.1:${redis.port}"`)))
  })
})
