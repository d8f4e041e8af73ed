import assert from 'node:assert/strict'
import { test } from 'node:test'
import { read, sections } from './markdown.ts'

const terms = sections(read('docs/glossary.md'))
const names = terms.map(({ heading }) => heading.toLowerCase())

test('the glossary has each term once, in alphabetical order', () => {
  assert.ok(names.length > 0)
  assert.deepEqual(names, [...new Set(names)].sort())
})

test('the glossary has a definition for each term', () => {
  for (const { heading, body } of terms) assert.match(body, /\S.*\./, heading)
})
