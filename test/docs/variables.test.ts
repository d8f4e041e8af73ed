import assert from 'node:assert/strict'
import { test } from 'node:test'
import { variables } from '../../src/config.ts'
import {
  keptVersions,
  maxDocumentBytes,
  maxValueBytes,
  maxValueDepth,
  maxVariables,
} from '../../src/domain/variable.ts'
import { maxTokenNameLength, readTokenId, tokenStringPattern } from '../../src/domain/variable-token.ts'
import { blocks, flat, markdownFiles, read, section, tableRows } from './markdown.ts'

const page = read('docs/reference/variables.md')
const tokenStrings = (text: string) => text.match(/lethevar_[0-9A-Za-z]{16}_[0-9A-Za-z]{38}/g) ?? []

test('the variables page states the limits', () => {
  const limits = tableRows(section(page, 'Model')).map(([, limit = '']) => limit)
  const stated = [
    `${maxValueBytes / 1024} KiB`,
    String(maxValueDepth),
    maxVariables.toLocaleString('en'),
    `${maxDocumentBytes / 1024 ** 2} MiB`,
    String(keptVersions),
  ]
  for (const limit of stated)
    assert.ok(
      limits.some((each) => each.includes(limit)),
      limit,
    )
  assert.match(flat(page), new RegExp(`a name of 1 to ${maxTokenNameLength} characters`))
})

test('the variables page states the budget of a token', () => {
  const [, budget] = /Each token has ([\d,]+) requests a minute/.exec(flat(page)) ?? []
  assert.equal(`${budget?.replaceAll(',', '')}/minute`, variables.LETHE_LIMIT_VARIABLES.fallback)
})

test('the regular expression for scanners matches that of the program', () => {
  assert.deepEqual(
    blocks(page, 'regex').map((text) => text.trim()),
    [tokenStringPattern.source],
  )
})

test('the example token has a valid checksum, and no other page shows a complete token', () => {
  assert.deepEqual(tokenStrings(page).map(readTokenId), ['0123456789ABCDEF'])
  for (const file of markdownFiles()) {
    if (file !== 'docs/reference/variables.md') assert.deepEqual(tokenStrings(read(file)), [], file)
  }
})
