import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { Problems } from '../../src/domain/errors.ts'
import {
  checkIdentifier,
  countCharacters,
  endOfPrefix,
  identifierPattern,
  isIdentifier,
} from '../../src/domain/identifier.ts'
import { seededRandom } from '../support/seeded-random.ts'

const good: [what: string, id: string][] = [
  ['one character', 'a'],
  ['256 characters', 'a'.repeat(256)],
  ['256 emoji', '🦦'.repeat(256)],
  ['slashes', 'a/b//c/'],
  ['dots with other characters', '.hidden'],
  ['three dots', '...'],
  ['two dots and more', '../up'],
  ['spaces', ' a b '],
  ['a single space', ' '],
  ['a plus and a percent sign', '50%+1'],
  ['quotes and backslashes', `'"\`\\`],
  ['the character after the last control character', '\u00a0'],
  ['a line separator, which is not a control character', 'a\u2028b'],
  ['the highest character', '\u{10ffff}'],
  ['the characters around the surrogates', '\ud7ff\ue000'],
]

const bad: [what: string, id: unknown][] = [
  ['nothing', ''],
  ['a dot', '.'],
  ['two dots', '..'],
  ['257 characters', 'a'.repeat(257)],
  ['257 emoji', '🦦'.repeat(257)],
  ['NUL', 'a\0'],
  ['a tab', 'a\tb'],
  ['a line end after it', 'a\n'],
  ['a line end after dots', '..\n'],
  ['DEL', 'a\x7f'],
  ['the first C1 control character', 'a\x80'],
  ['the last C1 control character', 'a\x9f'],
  ['a lone high surrogate', 'a\ud800'],
  ['a lone low surrogate', '\udc00a'],
  ['surrogates the wrong way round', '\udc00\ud800'],
  ['a number', 7],
  ['null', null],
  ['undefined', undefined],
  ['an array with an id in it', ['a']],
]

describe('an ID can be', () => {
  for (const [what, id] of good) it(what, () => assert.equal(isIdentifier(id), true))
})

describe('an ID cannot be', () => {
  for (const [what, id] of bad) it(what, () => assert.equal(isIdentifier(id), false))
})

describe('the pattern of IDs', () => {
  const plain = new RegExp(identifierPattern, 'u')
  const withLookahead = /^(?!\.{1,2}$)[^\p{Cc}]+$/u
  const characters = ['.', '.', '\0', '\n', '\x1f', ' ', 'a', '\x7f', '\x9f', '\xa0', '\ud800', '🦦']

  it('is equivalent to a shorter one with lookahead', () => {
    const anything = fc.integer({ min: 0, max: 0x10ffff }).map((point) => String.fromCodePoint(point))
    const unit = fc.oneof(fc.constantFrom(...characters), anything)
    const texts = fc.array(unit, { maxLength: 12 }).map((units) => units.join(''))
    fc.assert(
      fc.property(texts, (text) => assert.equal(plain.test(text), withLookahead.test(text))),
      { numRuns: 1_000 },
    )
  })

  it('is equivalent for every text of up to three special characters', () => {
    for (const a of ['', ...characters]) {
      for (const b of ['', ...characters]) {
        for (const c of ['', ...characters]) {
          assert.equal(plain.test(a + b + c), withLookahead.test(a + b + c), JSON.stringify(a + b + c))
        }
      }
    }
  })

  it('uses only syntax that RE2 supports', () => {
    assert.doesNotMatch(identifierPattern, /\(\?[^:]|\\[^.x]/)
  })
})

describe('an ID in a request', () => {
  it('causes no problem if it is valid', () => {
    const problems = new Problems()
    checkIdentifier('subjectId', 'a/b', problems)
    assert.deepEqual(problems.list(), [])
  })

  it('causes a problem of its field with the rule if it is invalid', () => {
    const problems = new Problems()
    checkIdentifier('subjectId', '..', problems)
    assert.deepEqual(problems.list(), [
      {
        field: 'subjectId',
        message: 'subjectId must be 1 to 256 characters, no control characters, not "." or ".."',
      },
    ])
  })
})

describe('the length of a text', () => {
  it('counts an emoji as one character', () => assert.equal(countCharacters('a🦦b'), 3))
  it('is zero for an empty text', () => assert.equal(countCharacters(''), 0))
})

/** The order of UTF-8 is that of code points. */
function compare(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

describe('the end of a prefix range', () => {
  const examples: [prefix: string, end: string | null][] = [
    ['a', 'b'],
    ['ab', 'ac'],
    ['az', 'a{'],
    ['a%', 'a&'],
    ['Z', '['],
    ['\ud7ff', '\ue000'],
    ['a\ud7ff', 'a\ue000'],
    ['\uffff', '\u{10000}'],
    ['🦦', '🦧'],
    ['a\u{10ffff}', 'b'],
    ['a\u{10ffff}\u{10ffff}', 'b'],
    ['\ud7ff\u{10ffff}', '\ue000'],
    ['\u{10ffff}', null],
    ['\u{10ffff}\u{10ffff}', null],
    ['', null],
  ]
  for (const [prefix, end] of examples) {
    it(`${JSON.stringify(prefix)} is ${JSON.stringify(end)}`, () => assert.equal(endOfPrefix(prefix), end))
  }

  it('separates texts that start with the prefix from all others', () => {
    const random = seededRandom()
    const characters = [
      ...'aAzZ09%_\'" ',
      'é',
      '\ud7fe',
      '\ud7ff',
      '\ue000',
      '\uffff',
      '\u{10000}',
      '🦦',
      '\u{10ffff}',
    ]
    const text = () => Array.from({ length: random.integer(5) }, () => random.pick(characters)).join('')
    for (let round = 0; round < 20_000; round++) {
      const prefix = text()
      const other = random.integer(2) === 0 ? text() : prefix + text()
      const end = endOfPrefix(prefix)
      const isInRange = compare(other, prefix) >= 0 && (end === null || compare(other, end) < 0)
      assert.equal(isInRange, other.startsWith(prefix), JSON.stringify({ prefix, other, seed: random.seed }))
      assert.ok(end === null || end.isWellFormed(), JSON.stringify({ prefix, end }))
    }
  })
})
