import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  maxContactLength,
  maxContactLines,
  maxLogoBytes,
  maxLogoPixels,
} from '../../src/domain/organisation-profile.ts'
import { maxReplyLength, placeholders, placeholdersIn, replyNames } from '../../src/domain/reply-text.ts'
import { maxNameLength } from '../../src/operations/organisation.ts'
import { flat, read, section, tableRows } from './markdown.ts'

const guide = read('docs/guides/reply-texts.md')

/** The titles of outcomes in the console. */
const titles: Record<string, string> = {
  'Already deleted': 'already-deleted',
  'Copy ready': 'copy-ready',
  Erased: 'erased',
  Extended: 'extended',
  'Nothing held': 'nothing-held',
  Rejected: 'rejected',
}

test('the guide lists exactly the placeholders, with the texts that have them', () => {
  const rows = tableRows(section(guide, '3. Use placeholders')).flatMap(([names = '', , where = '']) =>
    Array.from(names.matchAll(/`\{(\w+)\}`/g), ([, name = '']) => ({ name, where })),
  )
  assert.deepEqual(rows.map(({ name }) => name).sort(), [...placeholders].sort())
  for (const { name, where } of rows) {
    const stated = replyNames.filter((each) => {
      const [kind = '', outcome = ''] = each.split('.')
      if (where === 'all texts') return true
      const found = where
        .split(/[,;] (?=[A-Z])/)
        .find((title) => titles[title.split(',')[0] ?? ''] === outcome)
      return found !== undefined && (!found.includes(', for ') || found.endsWith(kind))
    })
    const actual = replyNames.filter((each) =>
      placeholdersIn(each).some((placeholder) => placeholder === name),
    )
    assert.deepEqual(stated, actual, name)
  }
})

test('the guide and the console page state the limits', () => {
  const page = flat(read('docs/reference/console.md'))
  assert.match(flat(guide), new RegExp(`at most ${maxReplyLength.toLocaleString('en')} characters`))
  const side = maxLogoPixels.toLocaleString('en')
  assert.ok(flat(guide).includes(`at most ${side} × ${side} pixels`))
  assert.equal(maxLogoBytes, 64 * 1024)
  assert.match(page, /logo \(SVG or PNG, at most 64 KiB\)/)
  assert.ok(page.includes(`of at most ${maxNameLength} characters`))
  assert.ok(page.includes(`at most ${maxContactLength} characters in ${maxContactLines} lines`))
})
