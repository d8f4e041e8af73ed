import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  defaultRetentionDays,
  isPlan,
  maxRetentionDays,
  plans,
  type RetentionWindow,
  settleBy,
  settleWindow,
  windowStart,
} from '../../src/domain/retention.ts'
import { at } from '../support/rows.ts'
import { seededRandom } from '../support/seeded-random.ts'

const day = 86_400_000
const now = Date.parse('2026-11-15T12:00:00.000Z')
const year: RetentionWindow = { days: 365, shorter: null }
const waiting = (days: number, since: number): RetentionWindow => ({ days: 365, shorter: { days, since } })

describe('the effective window', () => {
  const cases: [what: string, remembered: RetentionWindow | null, days: number, settled: RetentionWindow][] =
    [
      ['is unchanged if nothing has changed', year, 365, year],
      ['is extended immediately', year, 730, { days: 730, shorter: null }],
      ['is kept if a shorter one is configured', year, 180, waiting(180, now)],
      ['is kept for a day', waiting(180, now - day + 1), 180, waiting(180, now - day + 1)],
      ['is shortened after a day', waiting(180, now - day), 180, { days: 180, shorter: null }],
      ['waits again for an even shorter one', waiting(180, now - day), 90, waiting(90, now)],
      [
        'waits again for one that is less short than the last',
        waiting(180, now - day),
        270,
        waiting(270, now),
      ],
      ['drops a shorter one if the old one is restored', waiting(180, now - day), 365, year],
      ['waits again if the clock was ahead', waiting(180, now + 1), 180, waiting(180, now)],
      [
        'is the longest possible if none is stored',
        null,
        180,
        { days: maxRetentionDays, shorter: { days: 180, since: now } },
      ],
    ]
  for (const [what, remembered, days, settled] of cases) {
    it(what, () => assert.deepEqual(settleWindow(remembered, days, now), settled))
  }

  it('is never too short for another process that runs at least once a day', () => {
    const random = seededRandom(7)
    for (let round = 0; round < 200; round++) {
      const processes = Array.from({ length: 2 + random.integer(3) }, () => 1 + random.integer(500))
      const longest = Math.max(...processes)
      let window = settleBy('immediately', null, longest, now)
      let [clock, longestSeenAt] = [now, now]
      for (let step = 0; step < 300; step++) {
        clock += random.integer(day / 2)
        const days = clock - longestSeenAt > day / 2 ? longest : random.pick(processes)
        if (days === longest) longestSeenAt = clock
        window = settleWindow(window, days, clock)
        assert.equal(window.days, longest)
      }
    }
  })
})

describe('a window settled by another rule', () => {
  it('is applied immediately with “immediately”, even if a shorter one waits', () => {
    for (const remembered of [null, year, waiting(180, now)]) {
      assert.deepEqual(settleBy('immediately', remembered, 90, now), { days: 90, shorter: null })
    }
  })

  it('only grows with “longer-only”', () => {
    assert.equal(settleBy('longer-only', null, 730, now), null)
    assert.equal(settleBy('longer-only', year, 180, now), year)
    assert.deepEqual(settleBy('longer-only', waiting(180, now - day), 730, now), { days: 730, shorter: null })
    const stood = waiting(180, now - day)
    assert.equal(settleBy('longer-only', stood, 180, now), stood)
  })
})

describe('the plans', () => {
  it('are free, starter, pro and business', () => {
    assert.deepEqual(plans, ['free', 'starter', 'pro', 'business'])
    for (const plan of plans) assert.equal(isPlan(plan), true)
  })

  it('do not include others', () => {
    for (const text of ['', 'Free', 'enterprise', 'toString', '0']) assert.equal(isPlan(text), false, text)
  })
})

describe('the start of the window of a plan', () => {
  const now = at('2026-11-15T12:00:00.000Z')

  it('is that many days of 24 hours ago, to the millisecond', () => {
    assert.equal(windowStart(defaultRetentionDays, 'free', now), at('2026-05-19T12:00:00.000Z'))
    assert.equal(windowStart(defaultRetentionDays, 'starter', now), at('2025-09-16T12:00:00.000Z'))
    assert.equal(windowStart(defaultRetentionDays, 'pro', now), at('2024-11-15T12:00:00.000Z'))
    assert.equal(windowStart(defaultRetentionDays, 'business', now), at('2021-11-16T12:00:00.000Z'))
  })

  it('depends on the given days', () => {
    assert.equal(windowStart({ ...defaultRetentionDays, free: 1 }, 'free', now), now - 86_400_000)
  })
})
