import assert from 'node:assert/strict'
import { test } from 'node:test'
import { blocks, markdownFiles, read } from './markdown.ts'

test('every page with commands says that they are for a clone, and how they differ in an installation', () => {
  const pages = markdownFiles().filter((file) =>
    blocks(read(file), 'console').some((block) => block.includes('npx lethe')),
  )
  assert.ok(pages.length > 10)
  for (const page of pages) assert.match(read(page), /\bclone\b.*\binstall/is, page)
})
