import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { dayOf, formatDay } from '../../src/domain/daily-total.ts'
import { at } from '../support/rows.ts'

describe('a day', () => {
  const cases: [first: string, last: string, day: number][] = [
    ['1970-01-01T00:00:00.000Z', '1970-01-01T23:59:59.999Z', 0],
    ['1969-12-31T00:00:00.000Z', '1969-12-31T23:59:59.999Z', -1],
    ['1969-12-30T00:00:00.000Z', '1969-12-30T23:59:59.999Z', -2],
    ['2026-11-15T00:00:00.000Z', '2026-11-15T23:59:59.999Z', 20_772],
    ['2024-02-29T00:00:00.000Z', '2024-02-29T23:59:59.999Z', 19_782],
    ['0000-01-01T00:00:00.000Z', '0000-01-01T23:59:59.999Z', -719_528],
    ['9999-12-31T00:00:00.000Z', '9999-12-31T23:59:59.999Z', 2_932_896],
  ]
  for (const [first, last, day] of cases) {
    it(`of ${first.slice(0, 10)} lasts from its first millisecond to its last`, () => {
      assert.equal(dayOf(at(first)), day)
      assert.equal(dayOf(at(last)), day)
      assert.equal(formatDay(day), first.slice(0, 10))
    })
  }
})
