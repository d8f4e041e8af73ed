import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { goals } from '../../benchmarks/report/goals.ts'
import { makePage, resultTable } from '../../benchmarks/report/page.ts'
import { Figures, type Group, median, type PartResult, percentile } from '../../benchmarks/report/results.ts'
import { tableRows } from '../docs/markdown.ts'

const machine = { processor: 'a processor', cores: 1, memoryGigabytes: 1, system: '', node: '', sqlite: '' }

function part(groups: Group[], commit = 'abc1234'): PartResult {
  const when = { measuredAt: '2026-11-18T16:00:00.000Z', commit, loadBefore: 0.2, tookSeconds: 1 }
  return { ...when, load: 'wrk', machine, size: {}, groups }
}

const http = (figures: Record<string, Record<string, number[]>>) => ({
  http: part([
    { name: 'SQLite', rows: Object.entries(figures).map(([name, each]) => ({ name, figures: each })) },
  ]),
})

/** The cells after the name of a measurement. */
function rowOf(what: string, table: string): string[] {
  return (
    tableRows(table)
      .find(([name]) => name === what)
      ?.slice(1) ?? []
  )
}

describe('the results table', () => {
  it('has a row for each goal', () => {
    assert.deepEqual(
      tableRows(resultTable({})).map(([what]) => what),
      goals.map(({ what }) => what),
    )
  })

  it('compares a route with its baseline, round by round', () => {
    const read = { ratio: [0.4, 0.6], requestsPerSecond: [20_000, 30_000] }
    const results = http({ read, 'baseline read': { ratio: [0.5, 0.6] } })
    const [result, , ratio, goal, verdict] = rowOf('read', resultTable(results))
    assert.equal(result, '25,000 (20,000–30,000) requests/s')
    assert.deepEqual([ratio, goal, verdict], ['0.90 (0.80–1.00)', 'at least 0.90', 'reached'])
  })

  it('states that a goal was not met, and that a part was not measured', () => {
    const results = http({ read: { ratio: [0.4] }, 'baseline read': { ratio: [0.5] } })
    assert.equal(rowOf('read', resultTable(results)).at(-1), '**not reached**')
    assert.equal(rowOf('page of 50', resultTable(results)).at(-1), 'not measured')
  })

  it('compares a number without a baseline with its limit', () => {
    const memory = (megabytes: number) => ({
      start: part([{ name: 'memory', rows: [{ name: 'idle', figures: { megabytes: [megabytes] } }] }]),
    })
    assert.deepEqual(rowOf('idle memory of the installed package', resultTable(memory(84.2))), [
      '84 MB',
      '',
      '',
      'at most 100 MB',
      'reached',
    ])
    assert.equal(
      rowOf('idle memory of the installed package', resultTable(memory(101))).at(-1),
      '**not reached**',
    )
  })

  it('uses the last row of a group if the goal says so', () => {
    const rows = [1, 0.9].map((ratio) => ({
      name: `${ratio}`,
      figures: { readRatio: [ratio], readsPerSecond: [10] },
    }))
    const [, , ratio] = rowOf(
      'read in the largest embedded store',
      resultTable({ growth: part([{ name: 'SQLite', rows }]) }),
    )
    assert.equal(ratio, '0.90')
  })
})

describe('the page', () => {
  const memory = (megabytes: number) => ({
    start: part([{ name: 'memory', rows: [{ name: 'idle', figures: { megabytes: [megabytes] } }] }]),
  })

  it('explains why a goal is not met, and only then', () => {
    const obstacle = /^- \*\*idle memory of the installed package\*\*: ./m
    assert.match(makePage(memory(101)), obstacle)
    assert.doesNotMatch(makePage(memory(99)), /What keeps the others/)
  })
})

describe('the results page', () => {
  it('states the machine and the commit once if all parts share them, or for each', () => {
    const [erase, sweep] = [part([]), part([])]
    assert.equal(
      makePage({ erase, sweep }).match(/Measured at commit abc1234 on 2026-11-18 \(erase, sweep\)/g)?.length,
      1,
    )
    const apart = makePage({ erase, sweep: part([], 'def5678') })
    assert.match(apart, /at commit abc1234.*at commit def5678/s)
  })
})

describe('the numbers of the benchmarks', () => {
  it('keep the values of all rounds, without unknown ones', () => {
    const figures = new Figures()
    figures.add('read', { p50Ms: 1, cpuMicros: null })
    figures.add('read', { p50Ms: 2, cpuMicros: 3 })
    assert.deepEqual(figures.rows(), [{ name: 'read', figures: { p50Ms: [1, 2], cpuMicros: [3] } }])
  })

  it('have medians and percentiles', () => {
    assert.equal(median([4, 1, 2, 3]), 2.5)
    assert.ok(Number.isNaN(median([])))
    assert.equal(percentile([5, 1, 3, 2, 4], 0.5), 3)
  })
})
