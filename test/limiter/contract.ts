import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Budget, BudgetState, Limiter } from '../../src/domain/budget.ts'
import type { Clock } from '../../src/domain/instant.ts'

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
  limiter: Limiter,
  budget: Budget,
  holder: string,
  times: number,
): Promise<BudgetState[]> {
  return Promise.all(Array.from({ length: times }, async () => limiter.take(budget, holder)))
}

/** What every limiter does. `open` makes a fresh one that goes by the clock it is given. */
export function limiterContract(name: string, open: (clock: Clock) => Limiter | Promise<Limiter>): void {
  async function start() {
    const clock = stillClock()
    return { clock, limiter: await open(clock.now) }
  }

  describe(`${name}: a budget`, () => {
    it('counts down to zero, then refuses', async () => {
      const { limiter } = await start()
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

    it('grants exactly its limit to 1,000 requests at once', async () => {
      const { limiter } = await start()
      const states = await takeMany(limiter, perMinute, 'a', 1_000)
      const granted = states.filter((state) => state.granted)
      assert.equal(granted.length, 60)
      const remaining = granted.map((state) => state.remaining).sort((a, b) => a - b)
      assert.deepEqual(
        remaining,
        Array.from({ length: 60 }, (_, i) => i),
      )
    })

    it('is told apart from the other budgets of the same holder', async () => {
      const { limiter } = await start()
      await takeMany(limiter, perMinute, 'same', 100)
      await takeMany(limiter, perKey, 'same', 20)
      assert.equal((await limiter.take(perMinute, 'same')).granted, false)
      assert.equal((await limiter.take(perKey, 'same')).remaining, 99)
      assert.equal((await limiter.take(erasure, 'same')).remaining, 59)
    })

    it('is every holder’s own', async () => {
      const { limiter } = await start()
      await takeMany(limiter, perMinute, 'a', 100)
      assert.equal((await limiter.take(perMinute, 'a')).granted, false)
      for (const holder of ['b', 'A', 'a ', 'aa', '', '__proto__', '2001:db8::/64']) {
        assert.equal((await limiter.take(perMinute, holder)).remaining, 59, holder)
      }
    })
  })

  describe(`${name}: a window`, () => {
    it('starts with the holder’s first request, not with the clock’s minute', async () => {
      const { clock, limiter } = await start()
      clock.pass(12_345)
      assert.equal((await limiter.take(perMinute, 'a')).resetsAt, noon + 72_345)
      clock.pass(30_000)
      assert.equal((await limiter.take(perMinute, 'a')).resetsAt, noon + 72_345)
      assert.equal((await limiter.take(perMinute, 'b')).resetsAt, noon + 102_345)
    })

    it('lasts as long as its budget says', async () => {
      const { limiter } = await start()
      assert.equal((await limiter.take(perMinute, 'a')).resetsAt, noon + 60_000)
      assert.equal((await limiter.take(erasure, 'a')).resetsAt, noon + 3_600_000)
    })

    it('still holds one millisecond before it resets, and not at the instant itself', async () => {
      const { clock, limiter } = await start()
      await takeMany(limiter, perMinute, 'a', 60)
      clock.pass(59_999)
      const last = await limiter.take(perMinute, 'a')
      assert.deepEqual(last, { granted: false, limit: 60, remaining: 0, resetsAt: noon + 60_000 })
      clock.pass(1)
      const fresh = await limiter.take(perMinute, 'a')
      assert.deepEqual(fresh, { granted: true, limit: 60, remaining: 59, resetsAt: noon + 120_000 })
    })

    it('is neither moved nor charged by requests it refuses', async () => {
      const { clock, limiter } = await start()
      await takeMany(limiter, perMinute, 'a', 60)
      for (let second = 0; second < 59; second++) {
        clock.pass(1_000)
        const { granted, resetsAt } = await limiter.take(perMinute, 'a')
        assert.equal(granted, false)
        assert.equal(resetsAt, noon + 60_000)
      }
      clock.pass(1_000)
      const states = await takeMany(limiter, perMinute, 'a', 61)
      assert.equal(states.filter((state) => state.granted).length, 60)
    })

    it('lets a client that waits for its reset never be refused', async () => {
      const { clock, limiter } = await start()
      let now = noon
      for (let i = 0; i < 300; i++) {
        const { granted, remaining, resetsAt } = await limiter.take(perMinute, 'a')
        assert.equal(granted, true)
        const wait = remaining === 0 ? resetsAt - now : 0
        clock.pass(wait)
        now += wait
      }
      assert.equal(now, noon + 5 * 60_000)
    })
  })
}
