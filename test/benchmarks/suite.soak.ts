import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parts } from '../../benchmarks/parts/index.ts'
import { goals } from '../../benchmarks/report/goals.ts'
import { readResults } from '../../benchmarks/report/results.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { runSuite } from './run-suite.ts'

test('every part of the benchmarks runs, and its goals are on the page', async (t) => {
  const folder = temporaryFolder(t)
  const results = await runSuite(folder, '--set', 'http.stores=SQLite,PostgreSQL with Redis')
  assert.deepEqual(Object.keys(results), Object.keys(parts))
  const page = readFileSync(join(folder, 'benchmarks.md'), 'utf8')
  for (const { what } of goals) assert.ok(page.includes(`\n| ${what} `), what)
})

test('parts can be measured separately, and the page contains all of them', async (t) => {
  const folder = temporaryFolder(t)
  const first = await runSuite(folder, '--only', 'erase', '--set', 'erase.quietSeconds=0')
  assert.deepEqual(Object.keys(first), ['erase'])
  assert.deepEqual(
    first.erase?.groups[0]?.rows.map(({ name, figures }) => [name, figures.eraseMs?.length]),
    [
      ['10 events', 2],
      ['1,000 events', 1],
    ],
  )

  const second = await runSuite(folder, '--only', 'import')
  assert.deepEqual(Object.keys(second), ['import'], 'printed is what was measured now')
  const kept = readResults(folder)
  assert.deepEqual(kept, { ...first, ...second }, 'kept is what was measured before as well')

  const page = readFileSync(join(folder, 'benchmarks.md'), 'utf8')
  assert.match(page, /at commit .*load from/s)
})
