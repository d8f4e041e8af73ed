import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Problems } from '../../src/domain/errors.ts'
import { checkName } from '../../src/domain/organisation.ts'

function problemsOf(name: string, maxLength = 64) {
  const problems = new Problems()
  checkName(name, maxLength, problems)
  return problems.list()
}

describe('a name can be', () => {
  const good: [what: string, name: string][] = [
    ['one character', 'a'],
    ['as long as is allowed', 'a'.repeat(64)],
    ['as many emoji as characters are allowed', '🦦'.repeat(64)],
    ['words with blanks around', ' Nightly erasure '],
    ['quotes and dots', `"O'Neill" ..`],
  ]
  for (const [what, name] of good) it(what, () => assert.deepEqual(problemsOf(name), []))
})

describe('a name cannot be', () => {
  const problem = { field: 'name', message: 'name must be 1 to 64 characters, no control characters' }
  const bad: [what: string, name: string][] = [
    ['nothing', ''],
    ['blanks alone', '  \u00a0 '],
    ['longer than is allowed', 'a'.repeat(65)],
    ['more emoji than characters are allowed', '🦦'.repeat(65)],
    ['two lines', 'a\nb'],
    ['text with a control character', 'a\u0085'],
    ['text with a lone surrogate, which no store can keep', 'a\ud800'],
  ]
  for (const [what, name] of bad) it(what, () => assert.deepEqual(problemsOf(name), [problem]))
})
