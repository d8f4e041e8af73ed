import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { drawBars } from '../../benchmarks/report/bar-chart.ts'
import { goalTable } from '../../benchmarks/report/goals.ts'
import { showFigure } from '../../benchmarks/report/labels.ts'
import type { Results } from '../../benchmarks/report/results.ts'
import { median } from '../../benchmarks/report/statistics.ts'
import { tableRows } from '../docs/markdown.ts'

function resultsOfHttp(ratios: Record<string, number[]>): Results {
  const rows = Object.entries(ratios).map(([name, ratio]) => ({ name, figures: { ratio } }))
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
    assert.deepEqual(verdict(resultsOfHttp({ read: [0.7, 0.8, 0.9] })), [
      'at least 0.80',
      '0.80 (0.70–0.90)',
      'reached',
    ])
    assert.deepEqual(verdict(resultsOfHttp({ read: [0.79] })), ['at least 0.80', '0.79', '**not reached**'])
    assert.deepEqual(verdict({}), ['at least 0.80', '', 'not measured'])
  })

  it('says once what stands in the way of goals that were not reached, beside the baseline that was measured', () => {
    const page = goalTable(
      resultsOfHttp({ read: [0.9], '401': [0.5], '429 by key': [0.6], 'baseline 401': [0.7] }),
    )
    const limits = page.split('\n').filter((line) => line.startsWith('- '))
    assert.equal(limits.length, 1)
    assert.match(
      limits[0] ?? '',
      /^- 401, of bare Fastify; 429 by key, of bare Fastify: the baseline 401 reached 0\.70 /,
    )
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
