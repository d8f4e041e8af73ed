import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parts } from '../../benchmarks/parts/index.ts'
import { makePage } from '../../benchmarks/report/page.ts'
import { readResults } from '../../benchmarks/report/results.ts'
import { code, read, root, section, tableRows } from './markdown.ts'

const results = readResults(fileURLToPath(new URL('docs', root)))

describe('the page of benchmarks', () => {
  it('and its charts are what the results say', () => {
    const made = makePage(results)
    for (const [path, text] of Object.entries(made)) assert.equal(read(`docs/${path}`), text, path)
    const charts = readdirSync(new URL('docs/benchmarks', root)).filter((file) => file.endsWith('.svg'))
    assert.deepEqual(
      charts.map((file) => `benchmarks/${file}`).sort(),
      Object.keys(made)
        .filter((path) => path.endsWith('.svg'))
        .sort(),
    )
  })

  it('has results of every part', () => {
    assert.deepEqual(Object.keys(results).sort(), Object.keys(parts).sort())
  })
})

describe('what contributors are told of the benchmarks', () => {
  it('names every part, and no other', () => {
    const named = tableRows(section(read('CONTRIBUTING.md'), 'Benchmarks')).map(([part]) => code(part))
    assert.deepEqual(named, Object.keys(parts))
  })
})
