import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { after, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Budget, type BudgetState, type Limiter, requestWaitMs } from '../../src/domain/budget.ts'
import { askRedis, noOwnRedis, reusedRedis, slowProxy, startRedis } from '../support/redis.ts'
import { openRedisLimiter, withoutDeadline } from '../support/redis-limiter.ts'
import type { Lifetime } from '../support/service.ts'
import { until, watchTimers } from '../support/until.ts'
import { takeMany } from './contract.ts'

const skip = noOwnRedis
const perKey: Budget = { name: 'key', limit: 120, windowMs: 60_000 }
const freshRedis = skip ? () => assert.fail(skip) : await reusedRedis({ after })

/**
 * The results of the three steps of a request, and the time it lost. Delays of timers are subtracted, because
 * a busy machine causes them.
 */
async function request(limiter: Limiter, waitMs = requestWaitMs) {
  const waitBudget = { waitMs }
  const states: BudgetState[] = []
  const lateness = watchTimers()
  const startedAt = performance.now()
  for (const name of ['ip', 'key', 'erasure'] as const) {
    states.push(await limiter.take({ name, limit: 1_000_000, windowMs: 60_000 }, 'somebody', waitBudget))
  }
  const tookMs = performance.now() - startedAt
  return { states, lostMs: tookMs - (await lateness.stop()) }
}

/** Sends requests, eight at a time, until stopped. */
function load(limiter: Limiter, waitMs?: number) {
  let isOn = true
  const states: BudgetState[] = []
  const done = Promise.all(
    Array.from({ length: 8 }, async () => {
      while (isOn) {
        states.push(...(await request(limiter, waitMs)).states)
        await sleep(2)
      }
    }),
  )
  return {
    states,
    async stop() {
      isOn = false
      await done
    },
  }
}

/** Runs twice as many endless loops as there are cores, until the end of the test. */
function keepCoresBusy(lifetime: Lifetime): void {
  const loops = Array.from({ length: 2 * availableParallelism() }, () =>
    spawn('sh', ['-c', 'while :; do :; done']),
  )
  lifetime.after(() => {
    for (const loop of loops) loop.kill('SIGKILL')
  })
}

/** Asserts that requests usually lose at most 50 ms, and never far more. */
function assertAtMost50Ms(losses: readonly number[]): void {
  const sorted = losses.toSorted((a, b) => a - b)
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0
  assert.ok(median <= 50, `${losses.map(Math.round).join(', ')} ms`)
  assert.ok((sorted.at(-1) ?? 0) < 200, `${losses.map(Math.round).join(', ')} ms`)
}

const granted = (states: BudgetState[]) => states.filter((state) => state.granted).length
const last = (states: BudgetState[]) => states.at(-1)?.isStandIn

describe('a limiter whose Redis is killed under load', { skip }, () => {
  it('counts in memory, and finds the next one by itself', async (t) => {
    const redis = await freshRedis()
    const { limiter, reports } = await openRedisLimiter(t, redis.url)
    const running = load(limiter, Number.POSITIVE_INFINITY)
    for (let round = 0; round < 2; round++) {
      await until(() => last(running.states) === false)
      await redis.kill()
      await until(() => last(running.states) === true)
      assert.equal(limiter.isReachable(), false)
      await redis.start()
      const startedAt = performance.now()
      await until(() => limiter.isReachable())
      assert.ok(performance.now() - startedAt < 30_000)
    }
    await until(() => last(running.states) === false)
    await running.stop()
    for (const { granted } of running.states) assert.equal(granted, true)
    assert.equal(reports.length, 4)
    for (const [i, report] of reports.entries()) assert.match(report, i % 2 === 0 ? /^lost: / : /^found$/)
  })
})

describe('a limiter whose Redis hangs', { skip }, () => {
  it('costs one request at most 50 ms, and later ones nothing', async (t) => {
    const redis = await freshRedis()
    const { limiter } = await openRedisLimiter(t, redis.url)
    const losses: number[] = []
    for (let round = 0; round < 3; round++) {
      await until(() => limiter.isReachable())
      redis.pause()
      const { states, lostMs } = await request(limiter)
      losses.push(lostMs)
      for (const { isStandIn } of states) assert.equal(isStandIn, true)
      for (let i = 0; i < 100; i++) assert.ok(!(limiter.take(perKey, 'somebody') instanceof Promise))
      redis.resume()
    }
    assertAtMost50Ms(losses)
  })

  it('costs requests under load no more', async (t) => {
    const redis = await freshRedis()
    const { limiter, reports } = await openRedisLimiter(t, redis.url)
    const running = load(limiter)
    const losses: number[] = []
    for (let round = 0; round < 3; round++) {
      await until(() => last(running.states) === false)
      redis.pause()
      const requests = await Promise.all(Array.from({ length: 50 }, () => request(limiter)))
      losses.push(Math.max(...requests.map(({ lostMs }) => lostMs)))
      redis.resume()
    }
    await running.stop()
    assertAtMost50Ms(losses)
    assert.equal(reports[0], 'lost: no answer')
  })

  it('is reported lost and found once each, without requests', async (t) => {
    const redis = await freshRedis()
    const { limiter, reports } = await openRedisLimiter(t, redis.url)
    await takeMany(withoutDeadline(limiter), perKey, 'a', 100)
    redis.pause()
    // The limiter notices without requests.
    await until(() => !limiter.isReachable())
    assert.equal((await limiter.take(perKey, 'a')).remaining, 19)
    // Long enough for several attempts, none of which may be reported.
    await sleep(2_500)
    assert.deepEqual(reports, ['lost: no answer'])
    redis.resume()
    await until(() => limiter.isReachable())
    assert.deepEqual(reports, ['lost: no answer', 'found'])
    assert.equal((await withoutDeadline(limiter).take(perKey, 'a')).remaining, 18)
  })

  it('queues nothing while there is no reply', async (t) => {
    const redis = await freshRedis()
    const { limiter } = await openRedisLimiter(t, redis.url)
    redis.pause()
    await takeMany(limiter, perKey, 'before', 50)
    for (let i = 0; i < 200; i++) await limiter.take(perKey, `holder ${i}`)
    redis.resume()
    await until(() => limiter.isReachable())
    assert.equal((await withoutDeadline(limiter).take(perKey, 'holder 199')).remaining, 118)
    const keys = await redis.ask('KEYS', 'lethe:key:holder*')
    assert.deepEqual(keys, ['lethe:key:holder 199'])
  })
})

describe('a limiter whose Redis is slow', { skip }, () => {
  it('also costs a request at most 50 ms, even if each reply arrives in time', async (t) => {
    const redis = await freshRedis()
    const proxy = await slowProxy(t, redis.port)
    const { limiter, reports } = await openRedisLimiter(t, proxy.url)
    const losses: number[] = []
    for (let round = 0; round < 3; round++) {
      await until(() => limiter.isReachable())
      proxy.delayMs = 30
      await until(async () => {
        const { states, lostMs } = await request(limiter)
        const isOver = states.some(({ isStandIn }) => isStandIn)
        if (isOver) losses.push(lostMs)
        return isOver
      })
      proxy.delayMs = 0
    }
    assertAtMost50Ms(losses)
    assert.deepEqual(new Set(reports), new Set(['lost: no answer', 'found']))
  })

  it('is not used until it is fast', async (t) => {
    const redis = await freshRedis()
    const proxy = await slowProxy(t, redis.port)
    proxy.delayMs = 300
    const { limiter, reports } = await openRedisLimiter(t, proxy.url)
    // It replies, but too slowly for requests.
    await sleep(700)
    assert.equal(limiter.isReachable(), false)
    assert.deepEqual(reports, ['lost: no answer'])
    proxy.delayMs = 0
    await until(() => limiter.isReachable())
  })
})

describe('while Redis cannot be reached', { skip }, () => {
  it('a process applies the budgets by itself', async (t) => {
    const redis = await freshRedis()
    const { limiter } = await openRedisLimiter(t, redis.url)
    await redis.kill()
    const states = await takeMany(limiter, perKey, 'a', 200)
    assert.equal(granted(states), 120)
    for (const state of states) assert.equal(state.isStandIn, true)
  })

  it('a limiter opens, and finds Redis when it starts', async (t) => {
    const redis = await freshRedis()
    await redis.kill()
    const { limiter, reports } = await openRedisLimiter(t, redis.url)
    assert.deepEqual(reports, ['lost: ECONNREFUSED'])
    assert.equal(limiter.isReachable(), false)
    assert.equal((await limiter.take(perKey, 'a')).isStandIn, true)
    await redis.start()
    await until(() => limiter.isReachable())
    assert.deepEqual(reports, ['lost: ECONNREFUSED', 'found'])
    assert.equal((await withoutDeadline(limiter).take(perKey, 'a')).remaining, 118)
  })

  it('a limiter opens if a server accepts connections but does not reply', async (t) => {
    const redis = await freshRedis()
    redis.pause()
    const { limiter, reports } = await openRedisLimiter(t, redis.url)
    assert.deepEqual(reports, ['lost: no answer'])
    redis.resume()
    await until(() => limiter.isReachable())
  })

  it('a limiter can be closed, and stops reconnecting', async (t) => {
    const redis = await freshRedis()
    const { limiter, reports } = await openRedisLimiter(t, redis.url)
    await redis.kill()
    await until(() => reports.length === 1)
    await limiter.close()
    await redis.start()
    await sleep(1_000)
    assert.equal(limiter.isReachable(), false)
    assert.equal(reports.length, 1)
    assert.match(String(await redis.ask('INFO', 'stats')), /total_connections_received:1\r/)
  })
})

describe('one process with an unreliable Redis', { skip }, () => {
  it('grants no more than the budget if Redis stops replying during a burst', async (t) => {
    const redis = await freshRedis()
    const { limiter } = await openRedisLimiter(t, redis.url)
    const before = await takeMany(withoutDeadline(limiter), perKey, 'a', 100)
    redis.pause()
    const states = [...before, ...(await takeMany(limiter, perKey, 'a', 200))]
    assert.equal(granted(states), 120)
  })

  it('counts its own grants after Redis is back', async (t) => {
    const redis = await freshRedis()
    const { limiter } = await openRedisLimiter(t, redis.url)
    redis.pause()
    await limiter.take(perKey, 'the one that notices')
    const states = await takeMany(limiter, perKey, 'a', 100)
    assert.ok(states.every(({ isStandIn }) => isStandIn))
    redis.resume()
    await until(() => limiter.isReachable())
    const later = await takeMany(withoutDeadline(limiter), perKey, 'a', 200)
    assert.equal(granted([...states, ...later]), 120)
    const told = later.filter((state) => state.granted).map(({ remaining }) => remaining)
    assert.deepEqual(
      told,
      Array.from({ length: 20 }, (_, i) => 19 - i),
    )
  })

  it('grants exactly the budget in a burst while all cores are overloaded', async (t) => {
    const redis = await freshRedis()
    const { limiter } = await openRedisLimiter(t, redis.url)
    keepCoresBusy(t)
    const states = await Promise.all(
      Array.from({ length: 200 }, async () => {
        const waitBudget = { waitMs: requestWaitMs }
        await limiter.take({ ...perKey, name: 'ip', limit: 1_000 }, 'a', waitBudget)
        return limiter.take(perKey, 'a', waitBudget)
      }),
    )
    assert.equal(granted(states), 120)
  })

  it('grants no more than the budget if Redis is killed and restarted empty several times', async (t) => {
    const redis = await freshRedis()
    const { limiter } = await openRedisLimiter(t, redis.url)
    const states: BudgetState[] = []
    for (let round = 0; round < 3; round++) {
      states.push(...(await takeMany(withoutDeadline(limiter), perKey, 'a', 25)))
      await redis.kill()
      states.push(...(await takeMany(limiter, perKey, 'a', 25)))
      await redis.start()
      await until(() => limiter.isReachable())
    }
    assert.equal(granted(states), 120)
  })
})

describe('a Redis that loses', { skip }, () => {
  it('its scripts receives them again', async (t) => {
    const redis = await freshRedis()
    const { limiter, reports } = await openRedisLimiter(t, redis.url)
    await takeMany(withoutDeadline(limiter), perKey, 'a', 10)
    await redis.ask('SCRIPT', 'FLUSH')
    const states = await takeMany(withoutDeadline(limiter), perKey, 'a', 200)
    assert.equal(states.filter(({ granted }) => granted).length, 110)
    for (const { isStandIn } of states) assert.equal(isStandIn, false)
    assert.deepEqual(reports, [])
  })

  it('all its keys receives the grants of each process again', async (t) => {
    const redis = await freshRedis()
    const { limiter, reports } = await openRedisLimiter(t, redis.url)
    const other = await openRedisLimiter(t, redis.url)
    const first = await takeMany(withoutDeadline(limiter), perKey, 'a', 110)
    await redis.ask('FLUSHALL')
    const [next] = await takeMany(withoutDeadline(limiter), perKey, 'a', 1)
    assert.deepEqual([next?.granted, next?.remaining, next?.isStandIn], [true, 9, false])
    assert.equal(granted([...first, ...(await takeMany(withoutDeadline(limiter), perKey, 'a', 50))]), 119)
    const fresh = await withoutDeadline(other.limiter).take(perKey, 'a')
    assert.deepEqual([fresh.granted, fresh.isStandIn], [true, false])
    assert.deepEqual(reports, [])
  })
})

describe('a Redis that rejects', { skip }, () => {
  it('a password counts as lost until it accepts it', async (t) => {
    const redis = await startRedis(t, ['--requirepass', 'sesame'])
    const url = (password: string) => redis.url.replace('//', `//:${password}@`)
    const right = await openRedisLimiter(t, url('sesame'))
    assert.deepEqual(right.reports, [])
    const wrong = await openRedisLimiter(t, url('hunter2'))
    const none = await openRedisLimiter(t, redis.url)
    assert.deepEqual(wrong.reports, ['lost: WRONGPASS'])
    assert.deepEqual(none.reports, ['lost: NOAUTH'])
    assert.equal((await wrong.limiter.take(perKey, 'a')).isStandIn, true)
    await askRedis(url('sesame'), 'CONFIG', 'SET', 'requirepass', 'hunter2')
    await until(() => wrong.limiter.isReachable())
    assert.deepEqual(wrong.reports, ['lost: WRONGPASS', 'found'])
  })

  it('writes counts as lost until it is a primary again', async (t) => {
    const [primary, replica] = [await startRedis(t), await freshRedis()]
    const { limiter, reports } = await openRedisLimiter(t, replica.url)
    await replica.ask('REPLICAOF', '127.0.0.1', String(primary.port))
    await until(async () => (await withoutDeadline(limiter).take(perKey, 'a')).isStandIn)
    // Long enough for several attempts, each of which connects.
    await sleep(500)
    assert.deepEqual(reports, ['lost: READONLY'])
    await replica.ask('REPLICAOF', 'NO', 'ONE')
    await until(() => limiter.isReachable())
    assert.equal(reports.length, 2)
  })

  it('writes without memory counts as lost until it has some', async (t) => {
    const redis = await freshRedis()
    const { limiter, reports } = await openRedisLimiter(t, redis.url)
    await redis.ask('CONFIG', 'SET', 'maxmemory-policy', 'noeviction', 'maxmemory', '1')
    assert.equal((await withoutDeadline(limiter).take(perKey, 'a')).isStandIn, true)
    assert.deepEqual(reports, ['lost: OOM'])
    await redis.ask('CONFIG', 'SET', 'maxmemory', '0')
    await until(() => limiter.isReachable())
  })

  it('a command is never quoted, because its error repeats the arguments', async (t) => {
    const redis = await startRedis(t, ['--rename-command', 'AUTH', '', '--rename-command', 'EVAL', ''])
    const withPassword = await openRedisLimiter(t, redis.url.replace('//', '//lethe:hunter2@'))
    const without = await openRedisLimiter(t, redis.url)
    assert.deepEqual(withPassword.reports, ['lost: ERR'])
    assert.deepEqual(without.reports, ['lost: ERR'])
  })
})
