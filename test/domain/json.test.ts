import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { InvalidJson, parseJson } from '../../src/domain/json.ts'

const accepted = [
  ...[
    'null',
    'true',
    ' 1 ',
    '-0',
    '1.5e3',
    '1e20',
    '9007199254740991',
    '-9007199254740991',
    '""',
    '[]',
    '{}',
  ],
  '{"a":{"a":1},"b":[{"a":1},{"a":2}]}',
  '["a","a"]',
  '{"a":"a:a","b":"{\\"a\\":1,\\"a\\":2}"}',
  '{"__proto__":1,"constructor":{"__proto__":[]}}',
  '["12345678901234567890","1e999"]',
  '{"\\u0061b":1,"a":2}',
]

test('JSON that can be read without loss is read like JSON.parse', () => {
  for (const text of accepted) assert.deepEqual(parseJson(text), JSON.parse(text), text)
})

const refused: [text: string, reason: RegExp][] = [
  ['', /^it is not valid JSON: /],
  ['{"a":1,}', /^it is not valid JSON: /],
  ["{'a':1}", /^it is not valid JSON: /],
  ['NaN', /^it is not valid JSON: /],
  ['hello\nworld', /^it is not valid JSON: [^\n]+$/],
  ['{"a":1,"a":1}', /^line 1: "a" is repeated$/],
  ['{"a":1,\n"b":2,\n\n"a":3}', /^line 4: "a" is repeated$/],
  ['{"a":1,"\\u0061":2}', /^line 1: "\\u0061" is repeated$/],
  ['[{"x":{"a":[],"a":{}}}]', /^line 1: "a" is repeated$/],
  ['{"__proto__":1,"__proto__":2}', /"__proto__" is repeated/],
  ['1e999', /^line 1: the number 1e999 is too large$/],
  ['{"a":[\n-1e400]}', /^line 2: the number -1e400 is too large$/],
  ['9007199254740992', /^line 1: the integer 9007199254740992 is too large to be exact/],
  ['[-9007199254740992]', /the integer -9007199254740992 is too large/],
]

test('JSON that would lose data is rejected with the line and the reason', () => {
  for (const [text, reason] of refused) {
    assert.throws(
      () => parseJson(text),
      (error) => error instanceof InvalidJson && reason.test(error.message),
      text,
    )
  }
})

test('a string of any length is read, and an error quotes only the start of a long number or name', () => {
  for (const string of ['x'.repeat(12_000_000), '\\'.repeat(100_001), 'x"\n'.repeat(100_000)])
    assert.deepEqual(parseJson(JSON.stringify([string, 1])), [string, 1])
  const long = '1'.repeat(1_000_000)
  for (const text of [long, `{"${long}":1,"${long}":1}`]) {
    assert.throws(
      () => parseJson(text),
      ({ message }) => message.includes('1'.repeat(60)) && message.length < 200,
    )
  }
})

test('output of JSON.stringify is read like JSON.parse, unless a number is too large', () => {
  fc.assert(
    fc.property(fc.json({ noUnicodeString: false }), fc.constantFrom(undefined, 1, '\t'), (text, space) => {
      const value: unknown = JSON.parse(text)
      const again = JSON.stringify(value, null, space)
      if (hasLargeInteger(value)) assert.throws(() => parseJson(again), InvalidJson)
      else assert.deepEqual(parseJson(again), value)
    }),
  )
})

test('any text is either read like JSON.parse or rejected', () => {
  const pieces = fc.constantFrom(...'{}[],:"\\ \n\tan1-.e0', '"a"', '"b"', 'null', 'true', '1e9', '\\u0061')
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
      const text = parts.join('')
      try {
        assert.deepEqual(parseJson(text), JSON.parse(text))
      } catch (error) {
        assert.ok(error instanceof InvalidJson, `${text}: ${error}`)
      }
    }),
    { numRuns: 2_000 },
  )
})

/** Whether a value has an inexact integer that JSON.stringify writes without an exponent. */
function hasLargeInteger(value: unknown): boolean {
  if (typeof value === 'number') {
    return Number.isInteger(value) && !Number.isSafeInteger(value) && !JSON.stringify(value).includes('e')
  }
  return typeof value === 'object' && value !== null && Object.values(value).some(hasLargeInteger)
}
