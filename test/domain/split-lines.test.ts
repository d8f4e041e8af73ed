import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defaultMaxLineBytes, splitLines } from '../../src/domain/split-lines.ts'

type Piece = string | Uint8Array

async function* chunksOf(pieces: readonly Piece[]): AsyncGenerator<Buffer> {
  for (const piece of pieces) yield Buffer.from(piece)
}

/** All lines of some chunks; the reason for an invalid line is in brackets. */
function linesOf(...pieces: Piece[]): Promise<string[]> {
  return linesWithin(defaultMaxLineBytes, ...pieces)
}

async function linesWithin(maxLineBytes: number, ...pieces: Piece[]): Promise<string[]> {
  const lines: string[] = []
  for await (const block of splitLines(chunksOf(pieces), maxLineBytes)) {
    assert.notEqual(block.length, 0)
    for (const line of block) lines.push(typeof line === 'string' ? line : `[${line.message}]`)
  }
  return lines
}

describe('bytes are split into lines', () => {
  const cases: [what: string, pieces: Piece[], lines: string[]][] = [
    ['of nothing, into none', [], []],
    ['of nothing but empty chunks, into none', ['', ''], []],
    ['with and without an end of the last', ['a\nb\n', 'c'], ['a', 'b', 'c']],
    ['with empty ones between', ['\n\na\n\n'], ['', '', 'a', '']],
    ['wherever chunks end', ['a', 'b\nc', 'd', '\n', '\ne\n'], ['ab', 'cd', '', 'e']],
    ['a chunk for each byte', [...'ab\nc\n\nd'], ['ab', 'c', '', 'd']],
    ['that keep their carriage returns', ['a\r\nb\r\n'], ['a\r', 'b\r']],
    ['at line feeds alone', ['a\u2028b\u2029c\u0085d\ve\ff\n'], ['a\u2028b\u2029c\u0085d\ve\ff']],
    ['without a byte order mark at the start', ['\ufeffa\n\ufeffb\n'], ['a', '\ufeffb']],
    ['without a byte order mark before the only line', ['\ufeffa'], ['a']],
  ]
  for (const [what, pieces, lines] of cases) {
    it(what, async () => assert.deepEqual(await linesOf(...pieces), lines))
  }

  it('with multi-byte characters, for any boundaries of chunks', async () => {
    const bytes = Buffer.from('\ufeffgrün\n🌍\n')
    for (let cut = 0; cut <= bytes.length; cut++) {
      assert.deepEqual(await linesOf(bytes.subarray(0, cut), bytes.subarray(cut)), ['grün', '🌍'])
    }
  })
})

describe('bytes that are not UTF-8', () => {
  it('invalidate only their own line', async () => {
    const bytes = Buffer.concat([Buffer.from('ä\nb'), Buffer.from([0xff]), Buffer.from('c\n\nö\n')])
    for (let cut = 0; cut <= bytes.length; cut++) {
      const lines = await linesOf(bytes.subarray(0, cut), bytes.subarray(cut))
      assert.deepEqual(lines, ['ä', '[not UTF-8]', '', 'ö'])
    }
  })

  it('invalidate the last line if a character is truncated', async () => {
    assert.deepEqual(await linesOf('a\n', Buffer.from('ü').subarray(0, 1)), ['a', '[not UTF-8]'])
  })
})

describe('the longest allowed line', () => {
  const half = 'x'.repeat(defaultMaxLineBytes / 2)

  it('is read, in one chunk or in two', async () => {
    const whole = half + half
    assert.deepEqual(await linesOf('a\n', half, half, '\nb'), ['a', whole, 'b'])
    assert.deepEqual(await linesOf(`${whole}\nb`), [whole, 'b'])
  })

  it('is exceeded only by invalid lines, which do not affect others', async () => {
    const tooLong = '[longer than 256 KiB (LETHE_MAX_LINE_KIB)]'
    assert.deepEqual(await linesOf('a\n', half, half, 'x\nb\n'), ['a', tooLong, 'b'])
    assert.deepEqual(await linesOf('a\n', half, half, half, half, half, '\nb'), ['a', tooLong, 'b'])
    assert.deepEqual(await linesOf(half, half, 'x'), [tooLong])
    assert.deepEqual(await linesOf(`a\n${half}${half}x\nb\n`), ['a', tooLong, 'b'])
  })

  it('is configurable in bytes, for any boundaries of chunks', async () => {
    const [within, beyond] = ['ü'.repeat(512), 'ü'.repeat(513)]
    const bytes = Buffer.from(`${within}\n${beyond}\na\n${within}`)
    for (let cut = 0; cut <= bytes.length; cut += 97) {
      assert.deepEqual(await linesWithin(1024, bytes.subarray(0, cut), bytes.subarray(cut)), [
        ...[within, '[longer than 1 KiB (LETHE_MAX_LINE_KIB)]', 'a', within],
      ])
    }
  })
})
