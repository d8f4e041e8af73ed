import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { loadProgress } from '../../benchmarks/load/load-progress.ts'
import { growthSection } from '../../benchmarks/report/growth-tables.ts'
import type { PartResult } from '../../benchmarks/report/results.ts'
import { checkDisk } from '../../benchmarks/stores/growing-stores.ts'
import { tableRows } from '../docs/markdown.ts'

describe('the progress of a load', () => {
  it('shows the current rate and the remaining time to this size and the last, every ten seconds', () => {
    let now = 0
    const lines: string[] = []
    const plan = { from: 1_000_000, to: 10_000_000, last: 100_000_000 }
    const progress = loadProgress(
      plan,
      (line) => lines.push(line),
      () => now,
    )
    for (let second = 1; second <= 20; second++) {
      now = second * 1_000
      progress(second <= 10 ? 50_000 : 30_000)
    }
    assert.deepEqual(lines, [
      '1,500,000 of 10,000,000 events, 50,000 a second, 3 min left, 33 min of loading to 100,000,000',
      '1,800,000 of 10,000,000 events, 30,000 a second, 4 min left, 41 min of loading to 100,000,000',
    ])
  })
})

describe('the disk', () => {
  it('has room for a small store; one that does not fit is rejected with instructions', () => {
    checkDisk('SQLite', 1_000)
    checkDisk('Citus', 1e15)
    assert.throws(
      () => checkDisk('PostgreSQL', 1e15),
      /1,000,000,000,000,000 events on PostgreSQL need about [\d.]+ GB, and \S+ has [\d.]+ GB free\. Set TMPDIR/,
    )
  })
})

describe('the tables of growth', () => {
  const figures = {
    readsPerSecond: [9_000, 10_000, 11_000],
    readRatio: [0.9, 1, 0.95],
    searchMs: [1, 3, 2],
    searchTimes: [1.1, 1.3, 1.2],
    bytesPerEvent: [260],
    scrubMs: [2_500],
    scrubWaitP99Ms: [12],
    scrubWaitMs: [40],
  }
  const growth: PartResult = {
    ...{ measuredAt: '2026-11-19T08:00:00.000Z', commit: 'abc1234', loadBefore: 0.1, tookSeconds: 1 },
    ...{ load: 'wrk', size: {} },
    machine: { processor: '', cores: 1, memoryGigabytes: 1, system: '', node: '', sqlite: '' },
    groups: [
      { name: 'SQLite', rows: [{ name: '10,000 events', figures }] },
      { name: 'Citus', rows: [], notes: ['Not measured: LETHE_TEST_CITUS names no cluster.'] },
    ],
  }

  it('have a row for each size, and columns for the measurements', () => {
    const text = growthSection({ growth })
    const [heading, ...rows] = text.split('\n').filter((line) => line.startsWith('|'))
    assert.match(heading ?? '', /events .* reads per second .* as a ratio .* by identifier/)
    assert.deepEqual(
      rows[1]?.split('|').map((cell) => cell.trim()),
      ['', '10,000', '10,000 (9,000–11,000)', '0.95 (0.90–1.00)', '2.0 (1.20)', ''],
    )
    assert.deepEqual(tableRows(text).at(-1), ['10,000', '260', '2.5', '12, 40'])
  })

  it('omit stores that were not measured', () => {
    assert.doesNotMatch(growthSection({ growth }), /Citus/)
    assert.equal(growthSection({}), '')
  })
})
