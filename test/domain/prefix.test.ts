import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { endOfPrefix } from '../../src/domain/identifier.ts'
import { seededRandom } from '../support/seeded-random.ts'

/** UTF-8 orders as code points do. */
function compare(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

describe('the end of a prefix', () => {
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

  it('parts what starts with the prefix from what does not, whatever the texts', () => {
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
