import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isTyped, visiblePieces } from '../../console/src/components/invisible.ts'

const shown = (text: string) =>
  visiblePieces(text)
    .map((piece) => (piece.isInvisible ? `[${piece.text}]` : piece.text))
    .join('')

test('invisible characters are shown as code points, and spaces where they would be lost', () => {
  for (const [text, expected] of [
    ['plain id', 'plain id'],
    ['a\u202eb', 'a[U+202E]b'],
    ['\u200b', '[U+200B]'],
    ['a\u00a0b', 'a[U+00A0]b'],
    [' a  b ', '[␣]a[␣␣]b[␣]'],
    ['👩\u200d👩\u200d👧', '👩\u200d👩\u200d👧'],
    ['a\u200db', 'a[U+200D]b'],
    ['🦦', '🦦'],
  ] as const) {
    assert.equal(shown(text), expected, JSON.stringify(text))
  }
})

test('an ID counts as typed if its visible characters match', () => {
  for (const [typed, id] of [
    ['two spaces', '  two  spaces '],
    ['Zo\u00eb', 'Zoe\u0308'],
    ['ab', 'a\u202eb'],
    ['aU+202Eb', 'a\u202eb'],
    ['U+200B', '\u200b'],
    ['a b', 'a\u00a0b'],
    ['same', 'same'],
    ['␣␣x', '  x'],
  ] as const) {
    assert.equal(isTyped(typed, id), true, `${typed} for ${JSON.stringify(id)}`)
  }
  for (const [typed, id] of [
    ['', '\u200b'],
    ['', 'a'],
    ['Anna', 'anna'],
    ['ann', 'anna'],
    ['twospaces', 'two spaces'],
  ] as const) {
    assert.equal(isTyped(typed, id), false, `${typed} for ${JSON.stringify(id)}`)
  }
})
