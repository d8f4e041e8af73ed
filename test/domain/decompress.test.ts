import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { decompress, readFailure } from '../../src/domain/split-lines.ts'
import { seededRandom } from '../support/seeded-random.ts'

async function* chunksOf(bytes: Uint8Array, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield Buffer.from(bytes.subarray(at, at + size))
}

async function read(bytes: Uint8Array, chunkSize = 65_536): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of decompress(chunksOf(bytes, chunkSize))) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

const { integer } = seededRandom()
// Text with little repetition, which stays long when compressed.
const text = Array.from({ length: 30_000 }, () => integer(1_000_000)).join('\n')
const formats = { gzip: gzipSync, zstd: zstdCompressSync }

describe('uncompressed bytes', () => {
  it('are passed on unchanged, however few', async () => {
    for (const plain of ['', '\n', '{}', '{}\n', '(?', text]) {
      assert.equal(await read(Buffer.from(plain)), plain)
      assert.equal(await read(Buffer.from(plain.slice(0, 50)), 1), plain.slice(0, 50))
    }
  })
})

for (const [format, compress] of Object.entries(formats)) {
  describe(`bytes compressed with ${format}`, () => {
    it('are recognised by their first bytes, for any boundaries of chunks', async () => {
      assert.equal(await read(compress(text)), text)
      assert.equal(await read(compress('short'), 1), 'short')
      assert.equal(await read(compress('')), '')
    })

    it('may be concatenated', async () => {
      const parts = Buffer.concat([compress(text), compress(''), compress('\n'), compress(text)])
      assert.equal(await read(parts), `${text}\n${text}`)
      assert.equal(await read(parts, 999), `${text}\n${text}`)
    })

    it('cause an error if they are truncated, in any part of concatenated data', async () => {
      const whole = compress(text)
      for (const bytes of [whole, Buffer.concat([whole, whole])]) {
        for (const missing of [1, 8, 50_000]) {
          const broken = bytes.subarray(0, bytes.length - missing)
          await assert.rejects(read(broken), (error) => /is truncated/.test(readFailure(error)))
        }
      }
    })

    it('cause an error if other data follows', async () => {
      const followed = Buffer.concat([compress(text), Buffer.from('{"type":"event"}\n')])
      await assert.rejects(read(followed), (error) => /is damaged/.test(readFailure(error)))
      await assert.rejects(read(followed, 7_777), (error) => /is damaged/.test(readFailure(error)))
    })
  })
}

describe('a zstd file', () => {
  it('may start with a skippable frame', async () => {
    const skipped = Buffer.from([0x5f, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3])
    assert.equal(await read(Buffer.concat([skipped, zstdCompressSync(text)])), text)
  })
})
