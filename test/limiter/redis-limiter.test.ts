import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, it } from 'node:test'
import type { Budget } from '../../src/domain/budget.ts'
import { anyRedis, askRedis, noRedis } from '../support/redis.ts'
import { openRedisLimiter, timedRedisLimiter, withoutDeadline } from '../support/redis-limiter.ts'
import { until } from '../support/until.ts'
import { limiterContract, takeMany } from './contract.ts'

const skip = noRedis
const perKey: Budget = { name: 'key', limit: 120, windowMs: 60_000 }
const url = skip ? '' : await anyRedis({ after })

/** The time of Redis in milliseconds. */
async function serverNow(): Promise<number> {
  const time = await askRedis(url, 'TIME')
  assert.ok(Array.isArray(time))
  return Number(time[0]) * 1_000 + Math.floor(Number(time[1]) / 1_000)
}

limiterContract('the limiter on Redis', (t) => timedRedisLimiter(t, url), { skip })

describe('limiters on one Redis', { skip }, () => {
  it('grant exactly 120 of 300 concurrent requests through three of them', async (t) => {
    const three = await Promise.all([1, 2, 3].map(() => openRedisLimiter(t, url)))
    const bucketKey = randomUUID()
    const states = await Promise.all(
      Array.from({ length: 300 }, async (_, i) => {
        const opened = three[i % 3]
        assert.ok(opened)
        return withoutDeadline(opened.limiter).take(perKey, bucketKey)
      }),
    )
    const granted = states.filter((state) => state.granted)
    assert.equal(granted.length, 120)
    assert.equal(new Set(granted.map(({ remaining }) => remaining)).size, 120)
    assert.equal(new Set(states.map(({ resetsAt }) => resetsAt)).size, 1)
  })

  it('batch the requests of one turn, and return the state of each', async (t) => {
    const { limiter } = await openRedisLimiter(t, url)
    const [spent, fresh] = [randomUUID(), randomUUID()]
    await takeMany(withoutDeadline(limiter), perKey, spent, 118)
    const calls = async () =>
      Number(/cmdstat_evalsha:calls=(\d+)/.exec(String(await askRedis(url, 'INFO', 'commandstats')))?.[1])
    const before = await calls()
    const states = await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        withoutDeadline(limiter).take(perKey, i % 2 === 0 ? spent : fresh),
      ),
    )
    // Heartbeats of this limiter, or of another test, may come in between.
    assert.ok((await calls()) - before < 10)
    const remaining = (parity: number) =>
      states.filter((_, i) => i % 2 === parity).map((state) => state.remaining)
    assert.deepEqual(remaining(0), [1, ...Array(49).fill(0)])
    assert.deepEqual(
      remaining(1),
      Array.from({ length: 50 }, (_, i) => 119 - i),
    )
    assert.equal(states.filter(({ granted }) => !granted).length, 48)
  })

  it('use the clock of Redis, not their own', async (t) => {
    const { limiter } = await openRedisLimiter(t, url)
    const before = await serverNow()
    const { countedAt } = await withoutDeadline(limiter).take(perKey, randomUUID())
    assert.ok(countedAt >= before && countedAt <= (await serverNow()))
  })

  it('allow a client that waits for its reset to continue', async (t) => {
    const { limiter } = await openRedisLimiter(t, url)
    const short: Budget = { name: 'key', limit: 3, windowMs: 200 }
    const bucketKey = randomUUID()
    for (let window = 0; window < 2; window++) {
      const [first] = await takeMany(withoutDeadline(limiter), short, bucketKey, 4)
      assert.ok(first)
      await until(async () => (await serverNow()) >= first.resetsAt)
    }
    const states = await takeMany(withoutDeadline(limiter), short, bucketKey, 4)
    assert.deepEqual(states.map(({ granted }) => granted).sort(), [false, true, true, true])
  })

  it('are neither asked nor reported lost for a request without time to wait', async (t) => {
    const { limiter, reports } = await openRedisLimiter(t, url)
    const bucketKey = randomUUID()
    assert.equal((await limiter.take(perKey, bucketKey, { waitMs: 0 })).isStandIn, true)
    assert.equal(limiter.isReachable(), true)
    // The grant without Redis is counted.
    assert.equal((await withoutDeadline(limiter).take(perKey, bucketKey)).remaining, 118)
    assert.deepEqual(reports, [])
  })

  it('use the same counts with different limits', async (t) => {
    const { limiter } = await openRedisLimiter(t, url)
    const bucketKey = randomUUID()
    await takeMany(withoutDeadline(limiter), perKey, bucketKey, 50)
    const fewer = await withoutDeadline(limiter).take({ ...perKey, limit: 20 }, bucketKey)
    assert.deepEqual([fewer.granted, fewer.limit, fewer.remaining], [false, 20, 0])
    assert.equal((await withoutDeadline(limiter).take(perKey, bucketKey)).remaining, 69)
  })
})

describe('a window in Redis', { skip }, () => {
  it('is one key with its count and its reset, which expires with it', async (t) => {
    const { limiter } = await openRedisLimiter(t, url)
    const bucketKey = randomUUID()
    await takeMany(withoutDeadline(limiter), perKey, bucketKey, 7)
    const { resetsAt } = await withoutDeadline(limiter).take(perKey, bucketKey)
    const key = `lethe:key:${bucketKey}`
    assert.equal(await askRedis(url, 'GET', key), `8 ${resetsAt}`)
    const before = await serverNow()
    const leftMs = Number(await askRedis(url, 'PTTL', key))
    const after = await serverNow()
    assert.ok(leftMs > 0 && leftMs <= 60_000)
    assert.ok(before + leftMs < resetsAt + 1_000 && after + leftMs > resetsAt - 1_000)
  })

  it('is not changed by a refused request', async (t) => {
    const { limiter } = await openRedisLimiter(t, url)
    const bucketKey = randomUUID()
    await takeMany(withoutDeadline(limiter), { ...perKey, limit: 2 }, bucketKey, 50)
    assert.match(String(await askRedis(url, 'GET', `lethe:key:${bucketKey}`)), /^2 \d+$/)
  })

  it('starts again instead of being extended if the clock of Redis is set back', async (t) => {
    const { limiter } = await openRedisLimiter(t, url)
    const bucketKey = randomUUID()
    const late = (await serverNow()) + 3_600_000
    await askRedis(url, 'SET', `lethe:key:${bucketKey}`, `120 ${late}`, 'PX', '3600000')
    const { granted, remaining, resetsAt, countedAt } = await withoutDeadline(limiter).take(perKey, bucketKey)
    assert.deepEqual([granted, remaining, resetsAt], [true, 119, countedAt + 60_000])
    assert.ok(Number(await askRedis(url, 'PTTL', `lethe:key:${bucketKey}`)) <= 60_000)
  })

  it('replaces an invalid value', async (t) => {
    const { limiter } = await openRedisLimiter(t, url)
    const bucketKey = randomUUID()
    await askRedis(url, 'SET', `lethe:key:${bucketKey}`, 'something else', 'PX', '60000')
    assert.equal((await withoutDeadline(limiter).take(perKey, bucketKey)).remaining, 119)
  })
})
