import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defaultRetentionDays, isPlan, plans, windowStart } from '../../src/domain/retention.ts'
import { at } from '../support/rows.ts'

describe('the plans', () => {
  it('are four', () => {
    assert.deepEqual(plans, ['free', 'starter', 'pro', 'business'])
    for (const plan of plans) assert.equal(isPlan(plan), true)
  })

  it('are none other', () => {
    for (const text of ['', 'Free', 'enterprise', 'toString', '0']) assert.equal(isPlan(text), false, text)
  })
})

describe('where a plan’s window begins', () => {
  const now = at('2026-11-15T12:00:00.000Z')

  it('is so many days of 24 hours ago, to the millisecond', () => {
    assert.equal(windowStart(defaultRetentionDays, 'free', now), at('2026-05-19T12:00:00.000Z'))
    assert.equal(windowStart(defaultRetentionDays, 'starter', now), at('2025-09-16T12:00:00.000Z'))
    assert.equal(windowStart(defaultRetentionDays, 'pro', now), at('2024-11-15T12:00:00.000Z'))
    assert.equal(windowStart(defaultRetentionDays, 'business', now), at('2021-11-16T12:00:00.000Z'))
  })

  it('goes by the days it is given', () => {
    assert.equal(windowStart({ ...defaultRetentionDays, free: 1 }, 'free', now), now - 86_400_000)
  })
})
