import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { identifierPattern } from '../../src/domain/identifier.ts'
import { missing } from '../support/missing.ts'
import { startSample } from './sample.ts'
import { run } from './tools.ts'

const folder = fileURLToPath(new URL('programs', import.meta.url))

// A whole minute to wait for, so that a slow machine sees the 429 too.
const budgets = { LETHE_LIMIT_KEY: '10/minute' }

const programs = [
  { name: 'curl', command: 'sh', args: ['try-lethe.sh'], skip: missing('curl') },
  { name: 'Python', command: 'python3', args: ['try-lethe.py'], skip: missing('python3') },
  { name: 'Go', command: 'go', args: ['run', 'try_lethe.go'], skip: missing('go') },
]

describe('a program of a few lines', { concurrency: true }, () => {
  for (const { name, command, args, skip } of programs) {
    test(`in ${name} reads, pages, obeys a 429 and erases`, { skip }, async (t) => {
      const { url, key } = await startSample(t, budgets)
      const env = { LETHE_URL: url, LETHE_API_KEY: key, LETHE_ID_PATTERN: identifierPattern }
      const { status, output } = await run(command, args, { cwd: folder, env })
      assert.equal(status, 0, output)
      t.diagnostic(output.split('\n')[0] ?? '')
      const [, ...lines] = output.trimEnd().split('\n')
      assert.deepEqual(lines, ['read visitor-61920061', 'page 5 True', 'refusals 1', 'erased 3'])
    })
  }
})
