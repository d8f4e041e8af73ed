import fc from 'fast-check'
import { base62Alphabet } from '../../../../src/domain/randomness.ts'

const surrogates = { first: 0xd800, count: 0x800 }

/** Any character. The unit of fast-check for this takes seconds to build its table. */
const anyCharacter = fc
  .integer({ min: 0, max: 0x10_ffff - surrogates.count })
  .map((number) => String.fromCodePoint(number < surrogates.first ? number : number + surrogates.count))

/** Any JavaScript string, including control characters, lone surrogates and characters of four bytes. */
export const anyText = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 300 }),
  fc.string({ maxLength: 40 }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 20 })
    .map((units) => String.fromCharCode(...units)),
)

/** A valid ID of a tracker, subject, session or event. */
export const identifierText = fc
  .oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
    fc.string({ minLength: 1, maxLength: 20 }),
    fc.constantFrom(
      '...',
      ' ',
      '%',
      '%2e',
      'a/b',
      '../x',
      '__proto__',
      'constructor',
      '🦦'.repeat(256),
      'é'.repeat(256),
    ),
  )
  .filter((text) => text !== '.' && text !== '..' && ![...text].some(isControl))

function isControl(character: string): boolean {
  return character <= '\u001f' || (character >= '\u007f' && character <= '\u009f')
}

/** Text that looks like an ID but is not valid. */
export const notIdentifierText = fc.oneof(
  fc.constantFrom(
    '',
    '.',
    '..',
    '\u0000',
    'a\u0000',
    '\t',
    '\n',
    '\u007f',
    '\u0085',
    'x'.repeat(257),
    '🦦'.repeat(257),
  ),
  fc.constantFrom('\ud800', 'a\udfff', '\udc00\ud800'),
)

export function base62(length: number): fc.Arbitrary<string> {
  return fc.string({ unit: fc.constantFrom(...base62Alphabet), minLength: length, maxLength: length })
}

/** A text with one character replaced. */
export function withOneChanged(text: string): fc.Arbitrary<string> {
  return fc
    .tuple(
      fc.nat(text.length - 1),
      fc.oneof(
        fc.constantFrom(...base62Alphabet, '-', '_', '=', ' '),
        fc.string({ minLength: 1, maxLength: 1 }),
      ),
    )
    .filter(([at, character]) => text.charAt(at) !== character)
    .map(([at, character]) => text.slice(0, at) + character + text.slice(at + 1))
}
