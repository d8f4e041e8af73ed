import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maxReportsPerFile } from '../../src/cli/commands/import.ts'
import { parseImportLine } from '../../src/domain/ingest.ts'
import { defaultMaxLineBytes } from '../../src/domain/split-lines.ts'
import { maxBatchRows, maxBatchText, transactionRows } from '../../src/operations/import.ts'
import { code, flat, markdownFiles, read, section, tableRows } from './markdown.ts'

const page = read('docs/reference/import.md')

test('every session and event line in the docs can be imported', () => {
  const lines = markdownFiles().flatMap(
    (file) => read(file).match(/^\{"type":"(?:session|event)".*$/gm) ?? [],
  )
  assert.ok(lines.length >= 4)
  for (const line of lines) assert.doesNotThrow(() => parseImportLine(line, 'tracker'), line)
})

for (const type of ['session', 'event']) {
  test(`the import page lists the fields of a line of type ${type}, and which are required`, () => {
    const rows = tableRows(section(page, 'Fields')).filter(([, of]) => of === 'both' || of === type)
    const fields = new Map(rows.map(([name, , needed = '']) => [code(name), needed]))
    const full: Record<string, unknown> = { type, ...samples(fields.keys()) }
    const row = parseImportLine(JSON.stringify(full))
    assert.deepEqual(Object.keys(row ?? {}).sort(), [...fields.keys()].sort())
    for (const [name, needed] of fields) {
      const line = JSON.stringify({ ...full, [name]: undefined })
      if (needed.startsWith('no')) assert.doesNotThrow(() => parseImportLine(line), name)
      else assert.throws(() => parseImportLine(line), new RegExp(name))
    }
  })
}

test('a field that is not on the import page is ignored, as the page says', () => {
  assert.match(flat(page), /Fields that are not in the table are ignored/)
  const line =
    '{"type":"event","subjectId":"v","sessionId":"s","name":"n","occurredAt":"2026-01-31T12:00:00Z"}'
  const longer = line.replace('{', '{"colour":"red",')
  assert.deepEqual(parseImportLine(longer, 'tracker'), parseImportLine(line, 'tracker'))
})

test('the import page states the limits of a batch, of a line and of reported lines', () => {
  const text = flat(page)
  const [most, together] = [maxBatchRows, transactionRows].map((rows) => rows.toLocaleString('en'))
  assert.ok(text.includes(`at most ${most} rows, ${maxBatchText / 2 ** 20} MiB of text`))
  assert.ok(text.includes(`in transactions of about ${together} rows`))
  assert.ok(text.includes(`A line longer than ${defaultMaxLineBytes / 1024} KiB is bad`))
  assert.ok(text.includes(`the first ${maxReportsPerFile} bad lines are reported`))
})

function samples(names: Iterable<string>): Record<string, unknown> {
  const sample = (name: string) => {
    if (name === 'identifiers') return { email: 'x' }
    return name.endsWith('At')
      ? '2026-01-31T12:00:00Z'
      : /(attributes|properties)$/.test(name)
        ? { a: 1 }
        : 'x'
  }
  return Object.fromEntries([...names].filter((name) => name !== 'type').map((name) => [name, sample(name)]))
}
