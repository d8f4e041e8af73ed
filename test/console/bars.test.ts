import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { toBars } from '../../console/src/parts/bars.ts'

const today = '2026-11-15'
const day = (day: string, sessions = 1, events = 2) => ({ day, sessions, events })

describe('the bars of a chart', () => {
  test('are thirty days at least, the last of them today, gaps filled', () => {
    const { bars, daysPerBar, windowAt } = toBars({ today, days: [day('2026-11-13', 3, 7)] }, 180)
    assert.equal(bars.length, 30)
    assert.equal(daysPerBar, 1)
    assert.deepEqual(bars.at(-1), { from: today, to: today, sessions: 0, events: 0 })
    assert.deepEqual(bars.at(-3), { from: '2026-11-13', to: '2026-11-13', sessions: 3, events: 7 })
    assert.equal(windowAt, null)
  })

  test('begin with the first day on which something happened', () => {
    const { bars, windowAt } = toBars({ today, days: [day('2026-08-01'), day('2026-11-01')] }, 1_825)
    assert.equal(bars[0]?.from, '2026-08-01')
    assert.equal(bars.length, 107)
    assert.equal(windowAt, null)
  })

  test('begin before the retention window where enough of it has passed, so that its beginning is seen', () => {
    const { bars, windowAt, windowFrom } = toBars(
      { today, days: [day('2026-08-01'), day('2026-11-01')] },
      180,
    )
    assert.equal(windowFrom, '2026-05-20')
    assert.equal(bars[0]?.from, '2026-05-13')
    assert.equal(windowAt, 7 / bars.length)
  })

  test('stand for several days each where there are too many, and lose none', () => {
    const days = Array.from({ length: 730 }, (_, i) =>
      day(new Date(Date.parse(today) - (729 - i) * 86_400_000).toISOString().slice(0, 10)),
    )
    const { bars, daysPerBar } = toBars({ today, days }, 730)
    assert.equal(daysPerBar, 4)
    assert.ok(bars.length <= 190)
    assert.equal(
      bars.reduce((sum, { sessions }) => sum + sessions, 0),
      730,
    )
    assert.equal(bars.at(-1)?.to, today)
  })

  test('are marked where the retention window begins', () => {
    const { windowAt, windowFrom, bars } = toBars({ today, days: [day('2026-10-07')] }, 10)
    assert.equal(windowFrom, '2026-11-06')
    assert.equal(bars.length, 40)
    assert.equal(windowAt, 30 / 40)
  })

  test('are there for a tracker on which nothing ever happened', () => {
    assert.equal(toBars({ today, days: [] }, 180).bars.length, 30)
  })
})
