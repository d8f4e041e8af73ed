import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatTime } from '../../console/src/components/months.ts'

test('a response time is in the largest unit that fits', () => {
  const [minute, hour, day] = [60_000, 3_600_000, 86_400_000]
  const times = [null, 0, minute - 1, minute, 1.5 * hour, day, 62 * day]
  assert.deepEqual(times.map(formatTime), [
    ...['–', 'under a minute', 'under a minute', '1 minute'],
    ...['1.5 hours', '1 day', '62 days'],
  ])
})
