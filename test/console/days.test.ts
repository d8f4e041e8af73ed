import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  axisOf,
  binsBefore,
  compare,
  daysCovered,
  positionOf,
  sumOf,
  toBars,
  toBins,
} from '../../console/src/components/days.ts'

describe('the days of a chart', () => {
  test('are in order up to today, with gaps filled', () => {
    const days = [{ day: '2026-11-15', value: 4, part: 1 }]
    assert.deepEqual(toBins(days, '2026-11-17', 3), [
      { from: '2026-11-15', to: '2026-11-15', value: 4, part: 1 },
      { from: '2026-11-16', to: '2026-11-16', value: 0, part: 0 },
      { from: '2026-11-17', to: '2026-11-17', value: 0, part: 0 },
    ])
  })

  test('share bins of equal size if there are too many, without losing counts', () => {
    const days = Array.from({ length: 400 }, (_, i) => ({
      day: new Date(Date.UTC(2026, 10, 17) - i * 86_400_000).toISOString().slice(0, 10),
      value: 1,
    }))
    const bins = toBins(days, '2026-11-17', 400)
    assert.ok(bins.length <= 100)
    assert.equal(new Set(bins.slice(1).map(({ value }) => value)).size, 1)
    assert.equal(
      bins.reduce((sum, { value }) => sum + value, 0),
      400,
    )
  })

  test('are weeks for a year, and four weeks for five years', () => {
    for (const [shownDays, perBin, covered] of [
      [90, 1, 90],
      [365, 7, 371],
      [1_825, 28, 1_848],
    ] as const) {
      const bins = toBins([], '2026-11-17', shownDays)
      assert.equal(daysCovered(shownDays), covered)
      assert.equal(bins.length * perBin, covered)
      const [{ from, to } = { from: '', to: '' }] = bins
      assert.equal((Date.parse(to) - Date.parse(from)) / 86_400_000 + 1, perBin)
    }
  })

  test('are compared with the same number of days before, without a gap', () => {
    for (const shownDays of [7, 90, 365]) {
      const days = Array.from({ length: 1_000 }, (_, i) => ({
        day: new Date(Date.UTC(2026, 10, 17) - i * 86_400_000).toISOString().slice(0, 10),
        value: i < daysCovered(shownDays) ? 3 : 1,
      }))
      const bins = toBins(days, '2026-11-17', shownDays)
      const before = binsBefore(days, bins)
      assert.equal(before.length, bins.length)
      assert.equal(sumOf(bins), 3 * daysCovered(shownDays))
      assert.equal(sumOf(before), daysCovered(shownDays))
    }
  })

  test('compare counts unless the earlier one is zero', () => {
    assert.deepEqual(compare(3, 2), { way: 'up', share: 0.5 })
    assert.deepEqual(compare(0, 4), { way: 'down', share: 1 })
    assert.deepEqual(compare(4, 4), { way: 'same', share: 0 })
    assert.deepEqual(compare(4, 0), { way: 'none', share: 0 })
    assert.deepEqual(compare(0, 0), { way: 'none', share: 0 })
  })

  test('have an axis of round integers that covers the highest value', () => {
    for (const highest of [0, 1, 2, 3, 7, 9, 10, 11, 49, 99, 101, 1_234, 98_765]) {
      const { top, steps } = axisOf(highest)
      assert.ok(top >= highest && top <= Math.max(1, highest * 2), `${highest}: ${top}`)
      assert.ok(Number.isInteger(top / steps), `${highest}: ${top} in ${steps}`)
    }
  })

  test('show where the retention window starts', () => {
    const first = { from: '2026-11-08' }
    assert.equal(positionOf('2026-11-13', first, '2026-11-17'), 0.5)
    assert.equal(positionOf('2026-11-08', first, '2026-11-17'), null)
    assert.equal(positionOf('2026-01-01', first, '2026-11-17'), null)
  })
})

const today = '2026-11-15'
const day = (day: string, sessions = 1, events = 2) => ({ day, sessions, events })

describe('the bars of a data subject', () => {
  test('are at least thirty days up to today, with gaps filled', () => {
    const bars = toBars({ today, days: [day('2026-11-13', 3, 7)] }, 180)
    assert.equal(bars.length, 30)
    assert.deepEqual(bars.at(-1), { from: today, to: today, sessions: 0, events: 0 })
    assert.deepEqual(bars.at(-3), { from: '2026-11-13', to: '2026-11-13', sessions: 3, events: 7 })
  })

  test('start with the first day with data', () => {
    const bars = toBars({ today, days: [day('2026-08-01'), day('2026-11-01')] }, 1_825)
    assert.equal(bars[0]?.from, '2026-08-01')
    assert.equal(bars.length, 107)
  })

  test('start before the retention window once it has moved far enough', () => {
    const bars = toBars({ today, days: [day('2026-08-01'), day('2026-11-01')] }, 180)
    assert.equal(bars[0]?.from, '2026-05-13')
  })

  test('cover several days each if there are too many, without losing counts', () => {
    const days = Array.from({ length: 730 }, (_, i) =>
      day(new Date(Date.parse(today) - (729 - i) * 86_400_000).toISOString().slice(0, 10)),
    )
    const bars = toBars({ today, days }, 730)
    assert.ok(bars.length <= 190)
    assert.equal(
      bars.reduce((sum, { sessions }) => sum + sessions, 0),
      730,
    )
    assert.equal(bars.at(-1)?.to, today)
  })
})
