import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Budget, BudgetState, Limiter } from '../../src/domain/budget.ts'
import type { Lifetime } from '../support/service.ts'

const perMinute: Budget = { name: 'ip', limit: 60, windowMs: 60_000 }
const perKey: Budget = { name: 'key', limit: 120, windowMs: 60_000 }
const erasure: Budget = { name: 'erasure', limit: 60, windowMs: 3_600_000 }
const noon = 1_794_052_800_000

/** A clock that is advanced manually. */
export function stillClock(start = noon) {
  let now = start
  return {
    now: (): number => now,
    pass(ms: number): void {
      now += ms
    },
  }
}

export async function takeMany(
  limiter: Pick<Limiter, 'take'>,
  budget: Budget,
  bucketKey: string,
  times: number,
): Promise<BudgetState[]> {
  return Promise.all(Array.from({ length: times }, async () => limiter.take(budget, bucketKey)))
}

/** A limiter and its time. Some time may pass by itself, but much less than a window; `pass` advances it. */
export interface TimedLimiter {
  limiter: Pick<Limiter, 'take'>
  pass(ms: number): void | Promise<void>
}

/** The contract of every limiter. `open` creates one without windows. */
export function limiterContract(
  name: string,
  open: (lifetime: Lifetime) => TimedLimiter | Promise<TimedLimiter>,
  { skip = false }: { skip?: string | false } = {},
): void {
  describe(`${name}: a budget`, { skip }, () => {
    it('counts down to zero, then refuses', async (t) => {
      const { limiter } = await open(t)
      const small = { ...perMinute, limit: 3 }
      const states: BudgetState[] = []
      for (let i = 0; i < 5; i++) states.push(await limiter.take(small, 'a'))
      assert.deepEqual(
        states.map(({ granted, remaining }) => [granted, remaining]),
        [
          [true, 2],
          [true, 1],
          [true, 0],
          [false, 0],
          [false, 0],
        ],
      )
      for (const { limit } of states) assert.equal(limit, 3)
    })

    it('grants exactly its limit to 200 concurrent requests', async (t) => {
      const { limiter } = await open(t)
      const states = await takeMany(limiter, perMinute, 'a', 200)
      const granted = states.filter((state) => state.granted)
      assert.equal(granted.length, 60)
      const remaining = granted.map((state) => state.remaining).sort((a, b) => a - b)
      assert.deepEqual(
        remaining,
        Array.from({ length: 60 }, (_, i) => i),
      )
    })

    it('is separate from other budgets with the same bucket key', async (t) => {
      const { limiter } = await open(t)
      await takeMany(limiter, perMinute, 'same', 100)
      await takeMany(limiter, perKey, 'same', 20)
      assert.equal((await limiter.take(perMinute, 'same')).granted, false)
      assert.equal((await limiter.take(perKey, 'same')).remaining, 99)
      assert.equal((await limiter.take(erasure, 'same')).remaining, 59)
    })

    it('is separate for each bucket key', async (t) => {
      const { limiter } = await open(t)
      await takeMany(limiter, perMinute, 'a', 100)
      assert.equal((await limiter.take(perMinute, 'a')).granted, false)
      for (const bucketKey of ['b', 'A', 'a ', 'aa', '', '__proto__', '2001:db8::/64', '{a}', 'ä\n']) {
        assert.equal((await limiter.take(perMinute, bucketKey)).remaining, 59, bucketKey)
      }
    })

    it('can be as large as the configuration allows', async (t) => {
      const { limiter } = await open(t)
      const large: Budget = { name: 'ip', limit: 999_999_999, windowMs: 86_400_000 }
      const { resetsAt, countedAt, ...state } = await limiter.take(large, 'a')
      assert.deepEqual(state, { granted: true, limit: 999_999_999, remaining: 999_999_998, isStandIn: false })
      assert.equal(resetsAt - countedAt, 86_400_000)
    })
  })

  describe(`${name}: a window`, { skip }, () => {
    it('starts with the first request of the bucket key, not with a minute of the clock', async (t) => {
      const { pass, limiter } = await open(t)
      await pass(12_345)
      const first = await limiter.take(perMinute, 'a')
      assert.equal(first.resetsAt, first.countedAt + 60_000)
      await pass(30_000)
      const second = await limiter.take(perMinute, 'a')
      assert.ok(second.countedAt >= first.countedAt + 30_000)
      assert.equal(second.resetsAt, first.resetsAt)
      const other = await limiter.take(perMinute, 'b')
      assert.equal(other.resetsAt, other.countedAt + 60_000)
      assert.ok(other.resetsAt >= first.resetsAt + 30_000)
    })

    it('lasts as long as configured', async (t) => {
      const { limiter } = await open(t)
      for (const budget of [perMinute, erasure, { ...perKey, windowMs: 1_000 }]) {
        const { resetsAt, countedAt } = await limiter.take(budget, 'a')
        assert.equal(resetsAt, countedAt + budget.windowMs)
      }
    })

    it('ends exactly at its reset', async (t) => {
      const { pass, limiter } = await open(t)
      const [first] = await takeMany(limiter, perMinute, 'a', 60)
      assert.ok(first)
      const { resetsAt } = first
      await pass(59_400)
      let refusals = 0
      for (;;) {
        const { countedAt, ...state } = await limiter.take(perMinute, 'a')
        if (countedAt >= resetsAt) {
          assert.deepEqual(state, {
            granted: true,
            limit: 60,
            remaining: 59,
            resetsAt: countedAt + 60_000,
            isStandIn: false,
          })
          break
        }
        assert.deepEqual(state, { granted: false, limit: 60, remaining: 0, resetsAt, isStandIn: false })
        refusals++
        await pass(1)
      }
      assert.ok(refusals > 0)
    })

    it('is neither extended nor charged by refused requests', async (t) => {
      const { pass, limiter } = await open(t)
      const [first] = await takeMany(limiter, perMinute, 'a', 60)
      assert.ok(first)
      let leftMs = 60_000
      while (leftMs > 12_000) {
        await pass(10_000)
        const { granted, resetsAt, countedAt } = await limiter.take(perMinute, 'a')
        assert.equal(granted, false)
        assert.equal(resetsAt, first.resetsAt)
        leftMs = resetsAt - countedAt
      }
      await pass(leftMs)
      const states = await takeMany(limiter, perMinute, 'a', 61)
      assert.equal(states.filter((state) => state.granted).length, 60)
    })

    it('reports the same reset for all requests', async (t) => {
      const { pass, limiter } = await open(t)
      const resets = new Set<number>()
      for (let i = 0; i < 10; i++) {
        resets.add((await limiter.take(erasure, 'a')).resetsAt)
        await pass(7)
      }
      assert.equal(resets.size, 1)
    })

    it('never refuses a client that waits for its reset', async (t) => {
      const { pass, limiter } = await open(t)
      let waits = 0
      for (let i = 0; i < 120; i++) {
        const { granted, remaining, resetsAt, countedAt } = await limiter.take(perMinute, 'a')
        assert.equal(granted, true)
        if (remaining > 0) continue
        waits++
        await pass(resetsAt - countedAt)
      }
      assert.equal(waits, 2)
    })
  })
}
