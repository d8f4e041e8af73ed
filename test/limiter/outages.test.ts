import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Budget, BudgetState } from '../../src/domain/budget.ts'
import { MemoryLimiter } from '../../src/limiter/memory-limiter.ts'
import type { SharedWindow } from '../../src/limiter/take-script.ts'
import { stillClock } from './contract.ts'

const budget: Budget = { name: 'key', limit: 5, windowMs: 1_000 }

/** Models Redis for one bucket key, with its own clock. */
class ReferenceRedis {
  readonly #now: () => number
  #window = { count: 0, resetsAt: 0 }

  constructor(now: () => number) {
    this.#now = now
  }

  take(): SharedWindow {
    const countedAt = this.#now()
    if (this.#window.resetsAt <= countedAt) this.forget()
    const granted = this.#window.count < budget.limit
    if (granted) this.#window.count += 1
    return { granted, ...this.#window, countedAt }
  }

  forget(): void {
    this.#window = { count: 0, resetsAt: this.#now() + budget.windowMs }
  }
}

/**
 * Records what a process has granted: the times, and the windows it knew, each from its first grant to its
 * end. A window is either one of Redis or its own, which starts with a grant while no other is open.
 */
class ReferenceProcess {
  readonly grants: number[] = []
  readonly windows: { from: number; to: number; sharedResetsAt: number | null }[] = []

  granted(now: number, shared: SharedWindow | null): void {
    const isKnown = shared
      ? this.windows.some(({ sharedResetsAt, to }) => sharedResetsAt === shared.resetsAt && to > now)
      : this.windows.some(({ to }) => to > now)
    if (!isKnown) {
      const to = now + (shared ? shared.resetsAt - shared.countedAt : budget.windowMs)
      this.windows.push({ from: this.grants.length, to, sharedResetsAt: shared?.resetsAt ?? null })
    }
    this.grants.push(now)
  }

  /** The highest count of a window, of those that are open at `now` if it is given. */
  fullest(now = Number.NEGATIVE_INFINITY): number {
    return Math.max(
      0,
      ...this.windows
        .filter(({ to }) => to > now)
        .map(({ from, to }) => this.grants.slice(from).filter((at) => at < to).length),
    )
  }
}

type Step = { kind: 'take' | 'take alone' | 'other process' | 'forget' } | { kind: 'pass'; ms: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.constant({ kind: 'take' as const }) },
  { weight: 5, arbitrary: fc.constant({ kind: 'take alone' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'other process' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'forget' as const }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 700 }) }),
  },
)

function start(redisAheadMs: number) {
  const clock = stillClock()
  const redis = new ReferenceRedis(() => clock.now() + redisAheadMs)
  const limiter = new MemoryLimiter(clock.now)
  const process = new ReferenceProcess()

  /** Takes like the limiter on Redis with immediate replies. */
  function take(isAlone: boolean): { state: BudgetState; isOfRedis: boolean } {
    if (isAlone) {
      const state = limiter.take(budget, 'a')
      if (state.granted) process.granted(clock.now(), null)
      return { state, isOfRedis: false }
    }
    const refusal = limiter.refusal(budget, 'a')
    if (refusal) return { state: refusal, isOfRedis: false }
    const shared = redis.take()
    const { resetsAt, countedAt } = shared
    const refused = {
      granted: false,
      limit: budget.limit,
      remaining: 0,
      resetsAt,
      countedAt,
      isStandIn: false,
    }
    if (!shared.granted) return { state: refused, isOfRedis: true }
    const state = limiter.countShared(budget, 'a', shared, clock.now())
    if (state.granted) process.granted(clock.now(), shared)
    return { state, isOfRedis: false }
  }
  return { clock, redis, process, take }
}

describe('the grants of one process while Redis fails, recovers and loses data', () => {
  it('never exceed the budget of a window, and are not lower than its windows allow', () => {
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 80 }),
        fc.integer({ min: -9_999, max: 9_999 }),
        (steps, aheadMs) => {
          const { clock, redis, process, take } = start(aheadMs)
          for (const next of steps) {
            if (next.kind === 'pass') clock.pass(next.ms)
            else if (next.kind === 'forget') redis.forget()
            else if (next.kind === 'other process') redis.take()
            else {
              const spentBefore = process.fullest(clock.now()) >= budget.limit
              const { state, isOfRedis } = take(next.kind === 'take alone')
              assert.ok(process.fullest() <= budget.limit, 'more than the budget in a window')
              if (!state.granted)
                assert.ok(isOfRedis || spentBefore, 'refused without a window that is spent')
              if (state.granted) {
                assert.equal(state.remaining, budget.limit - process.fullest(clock.now()))
              }
            }
          }
        },
      ),
      { numRuns: 1_000 },
    )
  })

  it('are refused no longer than stated', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.boolean(), (steps, isAlone) => {
        const { clock, redis, take } = start(0)
        for (const next of steps) {
          if (next.kind === 'pass') clock.pass(next.ms)
          else if (next.kind === 'forget') redis.forget()
          else if (next.kind !== 'other process') take(next.kind === 'take alone')
        }
        const { state } = take(isAlone)
        if (state.granted) return
        const waitMs = state.resetsAt - state.countedAt
        assert.ok(waitMs > 0 && waitMs <= budget.windowMs)
        clock.pass(waitMs)
        const after = take(isAlone)
        assert.ok(after.state.granted || after.isOfRedis)
      }),
      { numRuns: 1_000 },
    )
  })
})
