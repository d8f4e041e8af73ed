import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { findLostNumber, InvalidJson, parseJson } from '../../src/domain/json.ts'

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

const tooLarge = 'a number that is too large'
const inexact = 'an integer that is too large to be exact; write it as text'
const numbers: [lost: string | null, texts: string[]][] = [
  [null, ['0', '-0', '1.5e3', '1e20', '1E+300', '1e-400', '9007199254740991', '-9007199254740992']],
  // The same digits come out again, wherever the value itself lies.
  [null, ['1234567890123456800', '-123456789012345680000', '1000000000000000000000', `1${'0'.repeat(308)}`]],
  [null, ['0.30000000000000004', '0.1234567890123456789', '9007199254740993.5', '12345678901234567890e-9']],
  [inexact, ['9007199254740993', '-9007199254740993', '1234567890123456781', '123456789012345683968']],
  [inexact, ['123456789012345680001', '1000000000000000000001', `1${'0'.repeat(307)}1`]],
  [tooLarge, ['1e400', '-1E400', '1e309', `1${'0'.repeat(309)}`, '9'.repeat(100_000)]],
]

test('a number is lost if it is too large, or an integer that comes out with other digits', () => {
  for (const [lost, texts] of numbers) {
    for (const number of texts) {
      for (const text of [number, `[1,${number}]`, `{"a":{"b":[${number} ,0]}}`, `{"1e400": ${number}\n}`])
        assert.equal(findLostNumber(text, JSON.parse(text)), lost, text.slice(0, 100))
    }
  }
})

test('a number in a string or a name is not lost', () => {
  const texts = ['1234567890123456781', '1e400', '\\', '"', '\\"1234567890123456781', '\u0000', '{"a":1e400}']
  for (const each of texts) {
    const text = JSON.stringify([1e20, { [each]: each, a: [each] }, each])
    assert.equal(findLostNumber(text, JSON.parse(text)), null, text)
  }
  assert.equal(findLostNumber('[1e20,"\\u0022",1e400]', [1e20]), tooLarge)
})

test('a number counts only in the given member', () => {
  const text =
    '{"other":1e400,"a":{"other":1e20},"\\u0061":{"b":[{}],"c":1234567890123456781},"last":[1e400]}'
  const { a, other } = JSON.parse(text)
  assert.equal(findLostNumber(text, a, 'a'), inexact)
  assert.equal(findLostNumber(text, other, 'other'), tooLarge)
  assert.equal(findLostNumber(text.replace('6781', '6800'), a, 'a'), null)
  assert.equal(findLostNumber(text.replace('6781', '6800'), JSON.parse(text)), tooLarge)
})

test('a lost number is found at any depth', () => {
  for (const depth of [100, 199, 200, 201, 100_000]) {
    const text = `${'['.repeat(depth)}1234567890123456781${']'.repeat(depth)}`
    assert.equal(findLostNumber(text, JSON.parse(text)), inexact, String(depth))
  }
})

test('no number that JavaScript writes is lost, and two integers that are not lost are different numbers', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.double({ noNaN: true, noDefaultInfinity: true }), (value, number) => {
      const text = JSON.stringify([value, number])
      assert.equal(findLostNumber(text, JSON.parse(text)), null)
    }),
  )
  fc.assert(
    fc.property(
      fc.bigInt({ min: 2n ** 53n, max: 2n ** 55n }),
      fc.integer({ min: 1, max: 500 }),
      (one, more) => {
        const texts = [String(one), String(one + BigInt(more))]
        const [first, second] = texts.filter((text) => findLostNumber(text, Number(text)) === null)
        if (first !== undefined && second !== undefined) assert.notEqual(Number(first), Number(second))
      },
    ),
    { numRuns: 1_000 },
  )
})
