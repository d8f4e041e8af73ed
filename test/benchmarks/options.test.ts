import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readOptions } from '../../benchmarks/options.ts'
import { parts } from '../../benchmarks/parts/index.ts'

describe('the options of the benchmarks', () => {
  it('default to measuring every part and writing the docs', () => {
    const { parts: chosen, out } = readOptions([])
    assert.deepEqual(chosen, Object.keys(parts))
    assert.match(out ?? '', /docs$/)
  })

  it('do not write the docs at a smaller size', () => {
    assert.equal(readOptions(['--size', 'quick']).out, null)
  })

  it('select existing parts only', () => {
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

  it('reject unknown settings and invalid numbers', () => {
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
