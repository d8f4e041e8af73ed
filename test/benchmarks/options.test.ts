import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readOptions } from '../../benchmarks/options.ts'
import { parts } from '../../benchmarks/parts/index.ts'

describe('the options of the benchmarks', () => {
  it('measure every part and write the docs when there are none', () => {
    const { parts: chosen, out } = readOptions([])
    assert.deepEqual(chosen, Object.keys(parts))
    assert.match(out ?? '', /docs$/)
  })

  it('leave the docs alone at a smaller size', () => {
    assert.equal(readOptions(['--size', 'quick']).out, null)
  })

  it('name parts, and no others than there are', () => {
    assert.deepEqual(readOptions(['--only', 'http,growth']).parts, ['http', 'growth'])
    assert.throws(() => readOptions(['--only', 'htpp']), /There is no part htpp: start, http/)
  })

  it('set numbers and lists', () => {
    const { sizes } = readOptions([
      ...['--set', 'import.lines=5000000', '--set', 'growth.events=10,20', '--set', 'http.stores=SQLite'],
    ])
    assert.equal(sizes.import.lines, 5_000_000)
    assert.deepEqual(sizes.growth.events, [10, 20])
    assert.deepEqual(sizes.http.stores, ['SQLite'])
    assert.equal(readOptions(['--hour']).sizes.mixed.seconds, 3_600)
  })

  it('set nothing that is not there, and nothing that is no number', () => {
    for (const change of [
      'import.rows=5',
      'nothing.lines=5',
      'import.lines',
      'import.lines=',
      'import.lines=many',
    ]) {
      assert.throws(() => readOptions(['--set', change]), /is no size/, change)
    }
  })
})
