import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parts } from '../../benchmarks/parts/index.ts'
import { makePage } from '../../benchmarks/report/page.ts'
import { readResults } from '../../benchmarks/report/results.ts'
import { code, read, root, section, tableRows } from './markdown.ts'

const results = readResults(fileURLToPath(new URL('docs', root)))

describe('the benchmarks page', () => {
  it('matches the results', () => {
    assert.equal(read('docs/benchmarks.md'), makePage(results))
  })

  it('has results of existing parts only', () => {
    assert.deepEqual(
      Object.keys(results).filter((part) => !Object.hasOwn(parts, part)),
      [],
    )
  })
})

describe('the table of benchmark parts in CONTRIBUTING.md', () => {
  it('lists exactly the existing parts', () => {
    const named = tableRows(section(read('CONTRIBUTING.md'), 'Benchmarks')).map(([part]) => code(part))
    assert.deepEqual(named, Object.keys(parts))
  })
})
