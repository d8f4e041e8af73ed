import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isPlan, plans } from '../../src/domain/plan.ts'

describe('the plans', () => {
  it('are four', () => {
    assert.deepEqual(plans, ['free', 'starter', 'pro', 'business'])
    for (const plan of plans) assert.equal(isPlan(plan), true)
  })

  it('are none other', () => {
    for (const text of ['', 'Free', 'enterprise', 'toString', '0']) assert.equal(isPlan(text), false, text)
  })
})
