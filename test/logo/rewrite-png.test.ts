import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { deflateSync } from 'node:zlib'
import { isPng, rewritePng } from '../../src/logo/rewrite-png.ts'
import { UnusableLogo } from '../../src/logo/unusable-logo.ts'
import { greenPixels, greenPng, pngChunk, pngFile, pngHeader } from '../support/png.ts'

const end = pngChunk('IEND')
const header = pngHeader({ width: 4, height: 3 })
const image = pngChunk('IDAT', greenPixels(4, 3))

describe('a PNG logo', () => {
  it('is unchanged if it has only an image', async () => {
    const plain = greenPng(4, 3)
    assert.ok(isPng(plain))
    assert.deepEqual(await rewritePng(plain), { bytes: plain, width: 4, height: 3 })
  })

  it('keeps chunks that affect its appearance, and no others', async () => {
    const gamma = pngChunk('gAMA', Buffer.from([0, 0, 0xb1, 0x8f]))
    const carried = ['tEXt', 'zTXt', 'iTXt', 'eXIf', 'iCCP', 'tIME', 'pHYs', 'acTL', 'prVt'].map((type) =>
      pngChunk(type, Buffer.from('<script>evil()</script>')),
    )
    const { bytes } = await rewritePng(pngFile(header, ...carried, gamma, image, ...carried, end))
    assert.deepEqual(bytes, pngFile(header, gamma, image, end))
  })

  it('may be interlaced, have few colours, and be split into several chunks', async () => {
    const palette = [pngChunk('PLTE', Buffer.from('0d6570ffffff', 'hex')), pngChunk('tRNS', Buffer.from([9]))]
    const rows = deflateSync(Buffer.from([0, 0b10, 0, 0b01]))
    const small = pngHeader({ width: 2, height: 2, depth: 1, colour: 3 })
    const pieces = [rows.subarray(0, 5), rows.subarray(5)].map((piece) => pngChunk('IDAT', piece))
    const file = pngFile(small, ...palette, ...pieces, end)
    assert.deepEqual((await rewritePng(file)).bytes, file)
    // For 5 × 5 pixels, the seven passes have 1, 1, 2, 2 × 2, 3 × 2, 3 × 2 and 2 × 5 pixels in 1, 1, 1, 2, 2,
    // 3 and 2 rows.
    const passes = [
      [1, 1],
      [1, 1],
      [2, 1],
      [1, 2],
      [3, 1],
      [2, 3],
      [5, 2],
    ]
    const raw = passes.map(([columns = 0, rows = 0]) => Buffer.alloc(rows * (1 + 4 * columns)))
    const interlaced = pngFile(
      pngHeader({ width: 5, height: 5, interlace: 1 }),
      pngChunk('IDAT', deflateSync(Buffer.concat(raw))),
      end,
    )
    assert.deepEqual((await rewritePng(interlaced)).bytes, interlaced)
  })

  const damaged = greenPng(4, 3)
  damaged[40] = (damaged[40] ?? 0) ^ 1
  const unusable: Record<string, Buffer> = {
    'a wrong check sum': damaged,
    'a missing end': pngFile(header, image),
    'half a chunk': greenPng(4, 3).subarray(0, -3),
    'a page after its end': Buffer.concat([
      greenPng(4, 3),
      Buffer.from('<html><script>evil()</script></html>'),
    ]),
    'chunks after its end': pngFile(header, image, end, pngChunk('tEXt')),
    'no header': pngFile(image, end),
    'two headers': pngFile(header, header, image, end),
    'no image': pngFile(header, end),
    'an interrupted image': pngFile(header, image, pngChunk('tEXt'), image, end),
    'an unknown chunk that is critical': pngFile(header, pngChunk('EVIL'), image, end),
    'too few pixels': pngFile(header, pngChunk('IDAT', greenPixels(4, 2)), end),
    'too many pixels': pngFile(header, pngChunk('IDAT', greenPixels(4, 4)), end),
    'data after its pixels': pngFile(
      header,
      pngChunk('IDAT', Buffer.concat([greenPixels(4, 3), Buffer.from('hidden')])),
      end,
    ),
    'a bomb': pngFile(header, pngChunk('IDAT', deflateSync(Buffer.alloc(10_000_000))), end),
    'pixels that cannot be inflated': pngFile(header, pngChunk('IDAT', Buffer.from('nonsense')), end),
    'too great a width': greenPng(2_001, 1),
    'too great a height': greenPng(1, 2_001),
    'no width': pngFile(pngHeader({ width: 0, height: 1 }), image, end),
    'an unknown colour type': pngFile(pngHeader({ width: 4, height: 3, colour: 5 }), image, end),
    'colours without a palette': pngFile(pngHeader({ width: 4, height: 3, colour: 3 }), image, end),
  }
  for (const [what, file] of Object.entries(unusable)) {
    it(`cannot be used with ${what}`, () => assert.rejects(rewritePng(file), UnusableLogo))
  }
})
