import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Budget, BudgetState, Limiter } from '../../src/domain/budget.ts'
import type { Lifetime } from '../support/service.ts'

const perMinute: Budget = { name: 'ip', limit: 60, windowMs: 60_000 }
const perKey: Budget = { name: 'key', limit: 120, windowMs: 60_000 }
const erasure: Budget = { name: 'erasure', limit: 60, windowMs: 3_600_000 }
const noon = 1_794_052_800_000

/** A clock that stands still until it is moved. */
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

/** A limiter, and its time. Some may pass by itself, though much less than a window; `pass` makes it pass immediately. */
export interface TimedLimiter {
  limiter: Pick<Limiter, 'take'>
  pass(ms: number): void | Promise<void>
}

/** What every limiter does. `open` makes one in which no window has begun. */
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

    it('is told apart from the other budgets of the same bucket key', async (t) => {
      const { limiter } = await open(t)
      await takeMany(limiter, perMinute, 'same', 100)
      await takeMany(limiter, perKey, 'same', 20)
      assert.equal((await limiter.take(perMinute, 'same')).granted, false)
      assert.equal((await limiter.take(perKey, 'same')).remaining, 99)
      assert.equal((await limiter.take(erasure, 'same')).remaining, 59)
    })

    it('is every bucket key’s own', async (t) => {
      const { limiter } = await open(t)
      await takeMany(limiter, perMinute, 'a', 100)
      assert.equal((await limiter.take(perMinute, 'a')).granted, false)
      for (const bucketKey of ['b', 'A', 'a ', 'aa', '', '__proto__', '2001:db8::/64', '{a}', 'ä\n']) {
        assert.equal((await limiter.take(perMinute, bucketKey)).remaining, 59, bucketKey)
      }
    })

    it('can be as large as the configuration lets it', async (t) => {
      const { limiter } = await open(t)
      const large: Budget = { name: 'ip', limit: 999_999_999, windowMs: 86_400_000 }
      const { resetsAt, countedAt, ...state } = await limiter.take(large, 'a')
      assert.deepEqual(state, { granted: true, limit: 999_999_999, remaining: 999_999_998, isStandIn: false })
      assert.equal(resetsAt - countedAt, 86_400_000)
    })
  })

  describe(`${name}: a window`, { skip }, () => {
    it('starts with the bucket key’s first request, not with the clock’s minute', async (t) => {
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

    it('lasts as long as its budget says', async (t) => {
      const { limiter } = await open(t)
      for (const budget of [perMinute, erasure, { ...perKey, windowMs: 1_000 }]) {
        const { resetsAt, countedAt } = await limiter.take(budget, 'a')
        assert.equal(resetsAt, countedAt + budget.windowMs)
      }
    })

    it('holds until the instant it resets, and not at the instant itself', async (t) => {
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

    it('is neither moved nor charged by requests it refuses', async (t) => {
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

    it('tells all its requests the same reset', async (t) => {
      const { pass, limiter } = await open(t)
      const resets = new Set<number>()
      for (let i = 0; i < 10; i++) {
        resets.add((await limiter.take(erasure, 'a')).resetsAt)
        await pass(7)
      }
      assert.equal(resets.size, 1)
    })

    it('lets a client that waits for its reset never be refused', async (t) => {
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
