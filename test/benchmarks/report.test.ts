import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { drawBars } from '../../benchmarks/report/bar-chart.ts'
import { goalTable } from '../../benchmarks/report/goals.ts'
import { showFigure } from '../../benchmarks/report/labels.ts'
import type { Results } from '../../benchmarks/report/results.ts'
import { median } from '../../benchmarks/report/statistics.ts'
import { tableRows } from '../docs/markdown.ts'

function resultsOfRead(ratio: number[]): Results {
  const rows = [{ name: 'read', figures: { ratio } }]
  const machine = { processor: '', cores: 1, memoryGigabytes: 1, system: '', node: '', sqlite: '' }
  const groups = [{ name: 'SQLite', rows }]
  return {
    http: {
      measuredAt: '',
      commit: '',
      loadBefore: 0,
      tookSeconds: 1,
      load: 'wrk',
      machine,
      size: {},
      groups,
    },
  }
}

describe('the report of the benchmarks', () => {
  it('tells of each goal whether it was reached', () => {
    const verdict = (results: Results) => tableRows(goalTable(results))[0]?.slice(1)
    assert.deepEqual(verdict(resultsOfRead([0.7, 0.8, 0.9])), [
      'at least 0.80',
      '0.80 (0.70–0.90)',
      'reached',
    ])
    assert.deepEqual(verdict(resultsOfRead([0.79])), ['at least 0.80', '0.79', '**not reached**'])
    assert.deepEqual(verdict({}), ['at least 0.80', '', 'not measured'])
  })

  it('shows the median, and how far rounds lie apart', () => {
    assert.equal(showFigure('rowsPerSecond', [1_000, 3_000, 2_000]), '2,000 (1,000–3,000)')
    assert.equal(showFigure('p99Ms', [3, 1, 2]), '2.00')
    assert.equal(median([4, 1, 2, 3]), 2.5)
    assert.ok(Number.isNaN(median([])))
  })

  it('draws bars as long as they are, and says them in words', () => {
    const svg = drawBars({
      title: 'Speed & <size>',
      series: ['one'],
      rows: [
        { name: 'half', bars: [{ value: 1, low: 1, high: 1 }] },
        { name: 'whole', bars: [{ value: 2, low: 2, high: 2 }] },
        { name: 'nothing', bars: [null] },
      ],
      show: String,
    })
    const [half, whole, ...others] = Array.from(svg.matchAll(/class="s0".* width="([\d.]+)"/g), ([, width]) =>
      Number(width),
    )
    assert.equal((half ?? 0) * 2, whole)
    assert.deepEqual(others, [])
    assert.match(svg, /<title id="title">Speed &amp; &lt;size><\/title>/)
    assert.match(svg, /<desc id="text">half: 1; whole: 2; nothing: –<\/desc>/)
  })
})
