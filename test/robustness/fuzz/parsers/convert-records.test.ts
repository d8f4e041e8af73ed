import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { cutCsv, cutJson } from '../../../../src/convert/cut-records.ts'
import { type Cut, UnusableFile } from '../../../../src/convert/format.ts'
import { InvalidLine } from '../../../../src/domain/ingest.ts'
import { checkProperty } from '../check-property.ts'

const maxLineBytes = 64 * 1024
const list = 'results'

/** Bytes in chunks that end anywhere, even within a character. */
async function* inChunks(bytes: Buffer, lengths: readonly number[]): AsyncGenerator<Buffer> {
  for (let start = 0, i = 0; start < bytes.length; i += 1) {
    const length = lengths[i % lengths.length] ?? 1
    yield bytes.subarray(start, start + length)
    start += length
  }
}

async function sourcesOf<Source>(blocks: AsyncIterable<readonly Cut<Source>[]>): Promise<Source[]> {
  const sources: Source[] = []
  for await (const cuts of blocks) {
    for (const { source, number } of cuts) {
      if (source instanceof InvalidLine) assert.fail(`record ${number}: ${source.message}`)
      sources.push(source)
    }
  }
  return sources
}

const chunkLengths = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 })

/** Text that can be encoded in UTF-8, with all characters that are special in JSON and CSV. */
const text = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 5 }),
      fc.constantFrom('"', '""', ',', '\n', '\r\n', '\r', '\\', '{', '}', '[', ']', ':', ' ', 'ö', '🦆'),
    ),
    { maxLength: 6 },
  )
  .map((parts) => parts.join('').toWellFormed())

/** Not empty: an empty object fills its line even if others are spread over several lines. */
const jsonObject = fc.dictionary(text, fc.oneof(text, fc.jsonValue()), { minKeys: 1, maxKeys: 5 })

/** Every way to write a list of objects. */
const writings: readonly ((objects: readonly unknown[]) => string)[] = [
  (objects) => JSON.stringify(objects),
  (objects) => `\ufeff \n${JSON.stringify(objects, null, 2)}\n`,
  (objects) => objects.map((each) => `${JSON.stringify(each)}\r\n`).join(''),
  (objects) => objects.map((each) => JSON.stringify(each, null, '\t')).join('\n'),
  (objects) => JSON.stringify({ next: null, [list]: objects, previous: { [list]: [{ a: '"]' }] } }),
  (objects) => JSON.stringify({ about: { [list]: '[' }, [list]: objects, count: 2 }, null, 1),
]

function quoted(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}

describe('the records of an export', () => {
  it('are the objects of a JSON document, in any formatting and any chunks', async (t) => {
    const input = fc.tuple(fc.array(jsonObject, { maxLength: 5 }), fc.constantFrom(...writings), chunkLengths)
    const property = fc.asyncProperty(input, async ([objects, write, lengths]) => {
      const bytes = Buffer.from(write(objects))
      const found = await sourcesOf(cutJson(inChunks(bytes, lengths), maxLineBytes, list))
      assert.deepEqual(found, JSON.parse(JSON.stringify(objects)))
    })
    await checkProperty(t, property, { runs: 200 })
  })

  it('are the rows of a CSV file, with any cells and any chunks', async (t) => {
    const row = fc.array(text, { minLength: 3, maxLength: 3 })
    const input = fc.tuple(fc.array(row, { maxLength: 6 }), fc.constantFrom('\n', '\r\n'), chunkLengths)
    const property = fc.asyncProperty(input, async ([rows, lineEnd, lengths]) => {
      const lines = [['a', 'b', 'c'], ...rows].map((cells) => cells.map(quoted).join(',') + lineEnd)
      const chunks = inChunks(Buffer.from(lines.join('')), lengths)
      const options = { delimiter: ',', onColumns() {} }
      const found = await sourcesOf(cutCsv(chunks, maxLineBytes, options))
      assert.deepEqual(
        found.map((cells) => [...cells.values()]),
        rows,
      )
    })
    await checkProperty(t, property, { runs: 200 })
  })

  it('are never larger than the limit, and damaged files end with an explanation', async (t) => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 400 }),
      fc.array(fc.constantFrom('"', ',', '\n', '{', '}', '[', ']', '\\', 'a', '1', ':'), { maxLength: 80 }),
    )
    const property = fc.asyncProperty(fc.tuple(bytes, chunkLengths), async ([some, lengths]) => {
      const input = Buffer.from(Array.isArray(some) ? some.join('') : some)
      const options = { delimiter: undefined, onColumns() {} }
      for (const blocks of [
        cutJson(inChunks(input, lengths), maxLineBytes, list),
        cutCsv(inChunks(input, lengths), maxLineBytes, options),
      ]) {
        let count = 0
        try {
          for await (const cuts of blocks) count += cuts.length
        } catch (error) {
          assert.ok(error instanceof UnusableFile, String(error))
        }
        assert.ok(count <= input.length)
      }
    })
    await checkProperty(t, property, { runs: 200 })
  })
})
