import assert from 'node:assert/strict'
import { test } from 'node:test'
import { minSaltBytes } from '../../src/convert/accesslog.ts'
import { formats, refusedFormats } from '../../src/convert/formats.ts'
import { maxJsonRecordBytes } from '../../src/convert/json-records.ts'
import { keptVisitors, maxVisitors, sessionPauseMs } from '../../src/convert/sessions.ts'
import { code, flat, read, section, sections, tableRows } from './markdown.ts'

const page = read('docs/reference/convert.md')
const text = flat(page)
const names = formats.map(({ name }) => name)

test('the page about conversions has a section and a row for each format, in the order of the help', () => {
  const [rules, ...described] = sections(page).map(({ heading }) => heading)
  assert.equal(rules, 'Rules for every format')
  assert.deepEqual(described, names)
  const [start = ''] = page.split(/^## /m)
  const linked = tableRows(start).map(([link = '']) => code(link.replace(/^\[(.*)\]\(.*\)$/, '$1')))
  assert.deepEqual(linked, names)
})

test('the page about conversions says what the fields of each format become, and what is lost', () => {
  for (const name of names) {
    const body = section(page, name)
    const isLikeAnother = names.some((other) => other !== name && body.includes(`](#${other})`))
    assert.ok(tableRows(body).length >= 5 || isLikeAnother, `${name} has no table of fields`)
    assert.match(body, /^(?:Lost|Not kept|Columns that the mapping does not name)/m, name)
  }
})

test('the page about conversions names the systems that are refused', () => {
  for (const name of Object.keys(refusedFormats))
    assert.match(text, new RegExp(`${name} is not supported`, 'i'))
})

test('the page about conversions states the limits', () => {
  const minutes = sessionPauseMs / 60_000
  assert.ok(text.includes(`a pause of more than ${minutes} minutes begins a new session`))
  assert.ok(text.includes(`remembers ${keptVisitors.toLocaleString('en')} visitors`))
  assert.ok(text.includes(`at most ${maxVisitors.toLocaleString('en')} of them`))
  assert.ok(text.includes(`an object of a JSON document over ${maxJsonRecordBytes / 2 ** 20} MiB`))
  assert.ok(read('docs/reference/commands.md').includes(`at least ${minSaltBytes} secret bytes`))
})
