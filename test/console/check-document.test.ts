import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { checkDocument } from '../../console/src/editor/check-document.ts'
import { compareVariables } from '../../console/src/variables.ts'
import { Problems } from '../../src/domain/errors.ts'
import * as service from '../../src/domain/variable.ts'
import { checkProperty } from '../robustness/fuzz/check-property.ts'

/** Whether the service accepts a document. */
function isAccepted(text: string): boolean {
  const problems = new Problems()
  const variables = service.parseVariables(text, problems)
  if (variables) service.checkVariables(variables, problems)
  return problems.list().length === 0
}

const nested = (levels: number) => `{"a": ${'['.repeat(levels)}${']'.repeat(levels)}}`
const numbered = (count: number, value: unknown) =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, i) => [`v${i}`, value])))

describe('the editor’s check of a document', () => {
  const refused: [text: string, line: number, reason: RegExp][] = [
    ['', 1, /start with “{”/],
    ['[]', 1, /start with “{”/],
    ['{\n"a": 1', 1, /“{” is never closed/],
    ['{"a": 1}\n{}', 2, /Nothing may follow/],
    ['{\n"a" 1}', 2, /“:” is expected/],
    ['{"a": 1\n"b": 2}', 2, /“,” or “}” is expected/],
    ['{"a": [1 2]}', 1, /“,” or “]” is expected/],
    ['{"a": [1,]}', 1, /No “,” may precede “]”/],
    ['{a: 1}', 1, /name in double quotes/],
    ['{"a": }', 1, /A value is expected/],
    ['{"a": 01}', 1, /not a JSON value/],
    ['{"a": undefined}', 1, /not a JSON value/],
    ['{"a": "b\n"}', 1, /never closed/],
    ['{"a": "\t"}', 1, /Control characters/],
    ['{"a": "\\x"}', 1, /No such escape/],
    ['{"a": 1,\n"\\u0061": 2}', 2, /“a” is repeated/],
    ['{"a": {"b": 1,\n"b": 2}}', 2, /“b” is repeated/],
    ['{"a": 1e999}', 1, /too large/],
    ['{"a": 9007199254740993}', 1, /too large to be exact/],
    ['{"__proto__": 1}', 1, /A name is a letter/],
    [`{"${'a'.repeat(65)}": 1}`, 1, /A name is a letter/],
    [nested(33), 1, /at most 32 levels/],
    [nested(100_000), 1, /at most 32 levels/],
    [JSON.stringify({ a: 'ü'.repeat(32 * 1024) }), 1, /more than 64 KiB/],
    [numbered(1_001, 0), 1, /1001 variables/],
    [numbered(20, 'x'.repeat(60_000)), 1, /more than 1 MiB/],
  ]
  for (const [text, line, reason] of refused) {
    test(`reports the line and the reason: ${reason.source}, ${JSON.stringify(text.slice(0, 20))}`, () => {
      const { problems, variables } = checkDocument(text)
      assert.equal(isAccepted(text), false)
      assert.equal(variables, null)
      assert.equal(problems[0]?.line, line)
      assert.match(problems[0]?.message ?? '', reason)
    })
  }

  test('reports all problems besides syntax errors, in order', () => {
    const { problems } = checkDocument('{\n"1": 1,\n"a": 1e999,\n"a": 2}')
    assert.deepEqual(
      problems.map(({ line }) => line),
      [2, 3, 4],
    )
  })

  test('stops after 100 problems', () => {
    const { problems } = checkDocument(`{${'\n"a": 1,'.repeat(200_000)}\n"b": 1}`)
    assert.deepEqual([problems.length, problems.at(-1)?.line], [100, 102])
  })

  test('accepts what the service accepts', () => {
    for (const text of [
      '{}',
      ' \r\n\t{ "a.b-c_D" : [ true , false , null , -0 , 1.5e-3 , "\\u00e9\\n\\"" , { } , [ ] ] } ',
      nested(32),
      numbered(1_000, 'x'),
      '{"a": {"__proto__": 1, "": 2}}',
    ]) {
      assert.equal(isAccepted(text), true)
      assert.deepEqual(checkDocument(text), { problems: [], variables: JSON.parse(text) })
    }
  })

  test('agrees with the service on valid and damaged generated documents', async (t) => {
    const value = fc.jsonValue({ maxDepth: 3 })
    const document = fc
      .dictionary(fc.constantFrom('a', 'b.c', 'D-1', 'e_', '1', ''), value, { maxKeys: 4 })
      .chain((variables) => {
        const text = JSON.stringify(variables, null, 1)
        const damage = fc.record({
          at: fc.nat(text.length),
          cut: fc.constantFrom(0, 0, 1, 2),
          put: fc.constantFrom(
            '',
            '',
            ',',
            '"',
            '}',
            ']',
            '{',
            ':',
            '\\',
            '1',
            'e',
            '"a": 1,',
            '\u0001',
            '.',
          ),
        })
        return damage.map(({ at, cut, put }) => text.slice(0, at) + put + text.slice(at + cut))
      })
    const property = fc.property(document, (text) => {
      assert.equal(checkDocument(text).problems.length === 0, isAccepted(text), text)
    })
    await checkProperty(t, property, { runs: 2_000 })
  })
})

test('the review shows the changes that the service counts', () => {
  for (const [before, after] of [
    [{}, { a: null }],
    [{ a: null }, {}],
    [{ a: { x: 1, y: [{ p: 1, q: 2 }] } }, { a: { y: [{ q: 2, p: 1 }], x: 1 } }],
    [
      { a: [1, 2], b: 1, c: 0 },
      { a: [2, 1], b: 1, d: 0 },
    ],
    [{ a: 0 }, { a: false }],
  ] as Record<string, unknown>[][]) {
    const wanted = service.compareVariables(
      new Map(Object.entries(before ?? {})),
      new Map(Object.entries(after ?? {})),
    )
    const found = compareVariables(before ?? {}, after ?? {})
    assert.deepEqual(
      found.map(({ kind, name }) => [kind, name]),
      wanted.map(({ kind, name }) => [kind, name]),
    )
  }
})
