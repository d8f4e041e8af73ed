import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { axisOf, placeOf, toBins } from '../../console/src/parts/day-bins.ts'

describe('the days of a chart', () => {
  test('come in their order up to today, with gaps filled', () => {
    const days = [{ day: '2026-11-15', value: 4, part: 1 }]
    assert.deepEqual(toBins(days, '2026-11-17', 3), [
      { from: '2026-11-15', to: '2026-11-15', value: 4, part: 1 },
      { from: '2026-11-16', to: '2026-11-16', value: 0, part: 0 },
      { from: '2026-11-17', to: '2026-11-17', value: 0, part: 0 },
    ])
  })

  test('share bins where there are too many, each of as many days, and lose nothing', () => {
    const days = Array.from({ length: 400 }, (_, i) => ({
      day: new Date(Date.UTC(2026, 10, 17) - i * 86_400_000).toISOString().slice(0, 10),
      value: 1,
    }))
    const bins = toBins(days, '2026-11-17', 400)
    assert.ok(bins.length <= 190)
    assert.equal(new Set(bins.slice(1).map(({ value }) => value)).size, 1)
    assert.equal(
      bins.reduce((sum, { value }) => sum + value, 0),
      400,
    )
  })

  test('have an axis of whole, round numbers that holds the highest', () => {
    for (const highest of [0, 1, 2, 3, 7, 9, 10, 11, 49, 99, 101, 1_234, 98_765]) {
      const { top, steps } = axisOf(highest)
      assert.ok(top >= highest && top <= Math.max(1, highest * 2), `${highest}: ${top}`)
      assert.ok(Number.isInteger(top / steps), `${highest}: ${top} in ${steps}`)
    }
  })

  test('tell where a window begins among them', () => {
    const first = { from: '2026-11-08' }
    assert.equal(placeOf('2026-11-13', first, '2026-11-17'), 0.5)
    assert.equal(placeOf('2026-11-08', first, '2026-11-17'), null)
    assert.equal(placeOf('2026-01-01', first, '2026-11-17'), null)
  })
})
