import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  leftInWords,
  type Observation,
  observe,
  rateInWords,
  rateOf,
} from '../../console/src/components/pace.ts'

/** Observations of the progress every 1.5 seconds. */
function watch(seconds: number, doneAt: (second: number) => number): Observation[] {
  let seen: Observation[] = []
  for (let second = 0; second <= seconds; second += 1.5)
    seen = observe(seen, { at: second * 1_000, done: doneAt(second) })
  return seen
}

describe('the pace of a job', () => {
  test('is unknown until there are enough observations', () => {
    assert.equal(rateOf([]), null)
    assert.equal(rateOf(watch(3, (second) => second * 10)), null, 'too short')
    assert.equal(rateOf(watch(60, () => 7)), null, 'no progress')
    assert.equal(rateOf(watch(60, (second) => (second > 30 ? 8 : 7))), null, 'hardly any')
  })

  test('is the average of the last minute', () => {
    assert.equal(rateOf(watch(15, (second) => second * 10)), 10)
    const slower = watch(300, (second) => (second < 150 ? second * 10 : 1_500 + (second - 150) * 2))
    assert.ok(Math.abs((rateOf(slower) ?? 0) - 2) < 0.01)
    assert.ok(slower.length < 50, 'older observations are dropped')
  })

  test('drops while there is no progress', () => {
    const stalled = watch(90, (second) => Math.min(second, 60) * 10)
    const rate = rateOf(stalled) ?? 0
    assert.ok(rate > 0 && rate < 7, String(rate))
  })

  test('covers more than a minute if the job is slow, with few observations', () => {
    const slow = watch(3_600, (second) => Math.floor(second / 120))
    const rate = (rateOf(slow) ?? 0) * 3_600
    assert.ok(rate > 20 && rate < 40, `${rate} an hour`)
    assert.ok(slow.length < 40)
  })

  test('is described in words', () => {
    assert.equal(rateInWords(12.4), '12 per second')
    assert.equal(rateInWords(1.26), '1.3 per second')
    assert.equal(rateInWords(0.5), '30 per minute')
    assert.equal(rateInWords(1 / 600), '6 per hour')
    for (const [seconds, words] of [
      [20, 'less than a minute left'],
      [65, 'about 1 minute left'],
      [170, 'about 3 minutes left'],
      [7_300, 'about 2 hours left'],
      [3 * 86_400, 'about 3 days left'],
    ] as const)
      assert.equal(leftInWords(seconds), words)
  })
})
