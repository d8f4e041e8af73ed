import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parts } from '../../benchmarks/parts/index.ts'
import { sections } from '../../benchmarks/report/sections.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { runSuite } from './run-suite.ts'

test('every part of the benchmarks runs, and has its section in the page', async (t) => {
  const folder = temporaryFolder(t)
  const results = await runSuite(folder, '--set', 'http.stores=SQLite,PostgreSQL with Redis')
  assert.deepEqual(Object.keys(results), Object.keys(parts))
  const page = readFileSync(join(folder, 'benchmarks.md'), 'utf8')
  for (const { title } of sections) assert.ok(page.includes(`\n## ${title}\n`), title)
})
