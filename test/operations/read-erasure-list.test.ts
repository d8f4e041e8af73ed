import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { LetheError, Problems } from '../../src/domain/errors.ts'
import {
  type GivenList,
  maxBatchLines,
  type ReadList,
  readList,
} from '../../src/operations/read-erasure-list.ts'

async function readWhole(given: GivenList): Promise<ReadList> {
  const problems = new Problems()
  const list = await readList(given, problems, nextTurn)
  problems.throwIfAny()
  return list
}

const csv = (text: string, column = 'id') => readWhole({ text, format: 'csv', column })
const lines = (text: string) => readWhole({ text, format: 'lines' })

async function valuesOf(list: Promise<ReadList>) {
  return (await list).listed.map(({ line, value }) => [line, value])
}

/** The problems of a list by field. */
async function problemsOf(list: Promise<ReadList>): Promise<Record<string, string>> {
  const error = await list.then(
    () => assert.fail('it is read'),
    (cause: unknown) => cause,
  )
  assert.ok(error instanceof LetheError)
  return Object.fromEntries(error.details.map(({ field, message }) => [field, message]))
}

/** Asserts that every line of a list is listed, empty, or of another kind. */
function assertWhole({ listed, read, empty, other }: ReadList, expected: number): void {
  assert.equal(read, expected)
  assert.equal(listed.length + empty + other, read)
}

describe('a list of lines', () => {
  it('counts every line, with any line ending', async () => {
    for (const [text, count, values] of [
      ['a\nb', 2, ['a', 'b']],
      ['a\r\nb\r\n', 2, ['a', 'b']],
      ['a\rb\r', 2, ['a', 'b']],
      ['a\n\n \r\n\r\rb\n', 6, ['a', 'b']],
      ['\ufeffa\n', 1, ['a']],
      ['"a\n b"', 2, ['"a', ' b"']],
    ] as const) {
      const list = await lines(text)
      assertWhole(list, count)
      assert.deepEqual(
        list.listed.map(({ value }) => value),
        values,
      )
    }
    assert.deepEqual(await valuesOf(lines('a\r\rb')), [
      [1, 'a'],
      [3, 'b'],
    ])
  })

  it('is rejected if it contains NUL, like a file in UTF-16', async () => {
    const { text = '' } = await problemsOf(lines('a\nb\na\0b\0'))
    assert.match(text, /line 3.*UTF-8/)
  })

  it('is rejected if it has too many lines, but may have any number of empty ones', async () => {
    assertWhole(await lines(`${'\n'.repeat(50_000)}${'x\n'.repeat(maxBatchLines)}`), 60_000)
    const { text = '' } = await problemsOf(lines('x\n'.repeat(maxBatchLines + 1)))
    assert.match(text, /10000/)
    assert.deepEqual(Object.keys(await problemsOf(lines(' \n\n'))), ['text'])
    assert.deepEqual(Object.keys(await problemsOf(lines(''))), ['text'])
  })
})

describe('a CSV file', () => {
  it('counts every line: its header, its records, empty lines, and lines inside quotes', async () => {
    const list = await csv('name,id\nAnna,a\n\n"Bert\nthe\r\nsecond",b\nCora,\n , \n"Dora",""\n"E\rmil","e"')
    assertWhole(list, 11)
    assert.deepEqual([list.empty, list.other], [4, 4])
    assert.deepEqual(
      list.listed.map(({ line, value }) => [line, value]),
      [
        [2, 'a'],
        [4, 'b'],
        [10, 'e'],
      ],
    )
  })

  it('may be separated by commas, semicolons or tabs, with any line ending and a byte order mark', async () => {
    for (const separator of [',', ';', '\t']) {
      for (const end of ['\n', '\r\n', '\r']) {
        const rows = [
          ['name', ' id '],
          ['"A, the; ""first""\tof them"', 'a'],
          ['B', '"b;,\t"'],
        ]
        const text = rows.map((row) => row.join(separator)).join(end)
        assert.deepEqual(await valuesOf(csv(`\ufeff${text}${end}`)), [
          [2, 'a'],
          [3, 'b;,\t'],
        ])
      }
    }
    assert.deepEqual(await valuesOf(csv('"name, first";id\nA;a')), [[2, 'a']])
    assert.deepEqual(await valuesOf(csv('id\na\nb')), [
      [2, 'a'],
      [3, 'b'],
    ])
  })

  const people = (count: number) => Array.from({ length: count }, (_, i) => `Person ${i},id-${i}`)

  it('with an unclosed quote is rejected with the line where it opens', async () => {
    const rows = people(1_000)
    rows[200] = `"${rows[200]}`
    const { text = '' } = await problemsOf(csv(['name,id', ...rows].join('\n')))
    assert.match(text, /line 202 .*never closed/)
  })

  it('with a quote that is closed by another field’s is rejected', async () => {
    const rows = people(1_000)
    rows[200] = `"${rows[200]}`
    rows[250] = 'Person "Bob" 250,id-250'
    const { text = '' } = await problemsOf(csv(['name,id', ...rows].join('\n')))
    assert.match(text, /line 252 .*after a closing quote/)
    rows[250] = 'Person 250,id-250'
    rows[900] = 'Person 900",id-900'
    const { text: long = '' } = await problemsOf(csv(['name,id', ...rows].join('\n')))
    assert.match(long, /line 202 .*more than 100 lines/)
  })

  it('counts the lines inside quotes if such a field is valid', async () => {
    const rows = people(100)
    rows[20] = `"${rows[20]}`
    rows[60] = 'Person 60",id-60'
    const list = await csv(['name,id', ...rows].join('\n'))
    assertWhole(list, 101)
    assert.deepEqual([list.listed.length, list.other], [60, 41])
  })

  for (const [what, text, expected] of [
    ['a quote in the middle of a field', 'name,id\nA,a\n5" screen,b', /line 3 .*quote in the middle/],
    ['a space before a quote', 'name,id\nA, "a"', /line 2 .*quote in the middle/],
    ['text after a closing quote', 'name,id\n"A"x,a', /line 2 .*after a closing quote/],
    ['too many fields', 'name,id\nSmith, John,17', /line 2 has 3 fields, but the first line has 2/],
    ['too few fields', 'name,id\nA,a\nb', /line 3 has 1 field, but the first line has 2/],
    ['NUL', 'name,id\nA,a\0', /line 2.*UTF-8/],
    ['UTF-16 without a byte order mark', Buffer.from('name,id\nA,a', 'utf16le').toString(), /line 1.*UTF-8/],
    ['a field that is too long', `name,id\n${'x'.repeat(32_768)},a`, /line 2 .*32767 characters/],
    [
      'a quoted field that is too long',
      `name,id\nA,a\n"${'x'.repeat(32_768)}",b`,
      /line 3 .*32767 characters/,
    ],
    ['quotes alone', `name,id\n${'"'.repeat(100_001)}`, /line 2 .*(32767 characters|never closed)/],
    ['1,001 columns', `id${',x'.repeat(1_000)}\na`, /line 1 .*1000 columns/],
    ['no records', 'name,id\n\n', /contains no lines/],
  ] as const) {
    it(`is rejected for ${what}, with its line`, async () => {
      const problems = await problemsOf(csv(text))
      assert.deepEqual(Object.keys(problems), ['text'])
      assert.match(problems.text ?? '', expected)
    })
  }

  it('is rejected without the column or with two of that name, and names a few of the others', async () => {
    assert.match((await problemsOf(csv('name,mail\nA,a'))).column ?? '', /first line: name, mail$/)
    assert.match((await problemsOf(csv('id,id\na,b'))).column ?? '', /twice/)
    assert.deepEqual(Object.keys(await problemsOf(csv(''))), ['column'])
    const wide = Array.from({ length: 1_000 }, (_, i) => `column-${i}-${'x'.repeat(1_000)}`).join()
    assert.ok(((await problemsOf(csv(`${wide}\n`))).column ?? '').length < 3_000)
  })

  it('is read only up to the line limit of a batch', async () => {
    const text = `name,id\n${'A,a\n'.repeat(maxBatchLines + 1)}"never read`
    assert.match((await problemsOf(csv(text))).text ?? '', /10000/)
    assertWhole(await csv(`name,id\nA,a\n${'A,\n'.repeat(100_000)}`), 100_002)
  })
})
