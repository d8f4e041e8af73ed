import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import { ImportInput } from '../../src/cli/commands/import.ts'
import type { LineBlock } from '../../src/operations/ingest.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

function writeFiles(t: TestContext, ...contents: (string | Uint8Array)[]): string[] {
  const folder = temporaryFolder(t)
  return contents.map((content, i) => {
    const path = join(folder, `file-${i}`)
    writeFileSync(path, content)
    return path
  })
}

async function blocksOf(input: ImportInput): Promise<LineBlock[]> {
  const blocks: LineBlock[] = []
  for await (const block of input.blocks()) blocks.push(block)
  return blocks
}

describe('the input of an import', () => {
  it('contains the lines of all files, numbered from 1 for each file', async (t) => {
    const files = writeFiles(t, 'a\nb\n', '', 'c')
    const input = await ImportInput.open(files)
    const blocks = await blocksOf(input)
    assert.deepEqual(blocks, [
      { source: files[0], firstNumber: 1, lines: ['a', 'b'] },
      { source: files[2], firstNumber: 1, lines: ['c'] },
    ])
    assert.deepEqual([input.failure, input.wasCutShort], [null, false])
  })

  it('numbers lines across blocks', async (t) => {
    const input = await ImportInput.open(writeFiles(t, 'line\n'.repeat(200_000)))
    let next = 1
    for await (const { firstNumber, lines } of input.blocks()) {
      assert.equal(firstNumber, next)
      next += lines.length
    }
    assert.equal(next, 200_001)
  })

  it('has the size of its files on disk, all of which is read', async (t) => {
    const compressed = gzipSync('line\n'.repeat(1_000))
    const input = await ImportInput.open(writeFiles(t, compressed, 'a\n'))
    assert.equal(input.totalBytes, compressed.length + 2)
    await blocksOf(input)
    assert.equal(input.bytesRead, input.totalBytes)
  })

  it('has an unknown size if it includes standard input', async (t) => {
    assert.equal((await ImportInput.open([...writeFiles(t, 'a\n'), '-'])).totalBytes, null)
  })

  it('ends when it is stopped', async (t) => {
    const input = await ImportInput.open(writeFiles(t, 'line\n'.repeat(200_000)))
    let blocks = 0
    for await (const _ of input.blocks()) {
      blocks += 1
      input.stop()
    }
    assert.deepEqual([blocks, input.failure, input.wasCutShort], [1, null, true])
  })
})
