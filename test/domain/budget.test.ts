import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type BudgetState, tightest, tryAgainIn } from '../../src/domain/budget.ts'

function state(remaining: number, resetsAt: number, isStandIn = false): BudgetState {
  return { granted: true, limit: 100, remaining, resetsAt, countedAt: 0, isStandIn }
}

describe('the tightest budget', () => {
  it('is the only one if there is one', () => {
    const only = state(5, 1_000)
    assert.equal(tightest(null, only), only)
  })

  it('is the one with the fewest requests left, even if another resets first', () => {
    const [few, many] = [state(1, 1_000), state(2, 9_000)]
    assert.equal(tightest(few, many), few)
    assert.equal(tightest(many, few), few)
  })

  it('is the one that resets last if several are equal', () => {
    const [soon, late] = [state(3, 1_000), state(3, 2_000)]
    assert.equal(tightest(soon, late), late)
    assert.equal(tightest(late, soon), late)
  })

  it('is a used-up one before one with a request left, whatever their limits', () => {
    const [empty, one] = [
      { ...state(0, 1), limit: 60 },
      { ...state(1, 2), limit: 1 },
    ]
    assert.equal(tightest(one, empty), empty)
  })

  it('is one counted by a stand-in, whatever the others', () => {
    const [shared, alone] = [state(0, 9_000), state(50, 1_000, true)]
    assert.equal(tightest(shared, alone), alone)
    assert.equal(tightest(alone, shared), alone)
  })
})

describe('the time to wait', () => {
  it('is in seconds, or in minutes if it is long', () => {
    assert.equal(tryAgainIn(1), 'Try again in 1 second.')
    assert.equal(tryAgainIn(42), 'Try again in 42 seconds.')
    assert.equal(tryAgainIn(121), 'Try again in 3 minutes.')
    assert.equal(tryAgainIn(3_600), 'Try again in 60 minutes.')
  })
})
