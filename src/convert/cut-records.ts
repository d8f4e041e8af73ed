import { InvalidLine } from '../domain/ingest.ts'
import { isObject } from '../domain/json.ts'
import { splitLines } from '../domain/split-lines.ts'
import { CsvRecords } from './csv-records.ts'
import { parseJsonObject } from './fields.ts'
import { type CsvRow, type Cut, type JsonObject, UnusableFile, UnusableRecord } from './format.ts'
import { JsonRecords } from './json-records.ts'

type Chunks = AsyncIterable<Buffer>

/** The records of text lines that are not empty. */
export async function* cutLines(chunks: Chunks, maxLineBytes: number): AsyncGenerator<Cut<string>[]> {
  let number = 0
  for await (const lines of splitLines(asUtf8(chunks), maxLineBytes)) {
    const cuts: Cut<string>[] = []
    for (const line of lines) {
      number += 1
      const source = typeof line === 'string' && line.endsWith('\r') ? line.slice(0, -1) : line
      if (typeof source !== 'string' || source.trim() !== '') cuts.push({ number, source })
    }
    yield cuts
  }
}

interface CsvOptions {
  delimiter: string | undefined
  onColumns(columns: readonly string[]): void
}

/** The records of a CSV file with a header. */
export async function* cutCsv(
  chunks: Chunks,
  maxLineBytes: number,
  options: CsvOptions,
): AsyncGenerator<Cut<CsvRow>[]> {
  const records = new CsvRecords({ maxLength: maxLineBytes, ...options })
  let number = 0
  for await (const lines of splitLines(asUtf8(chunks), maxLineBytes)) {
    const cuts: Cut<CsvRow>[] = []
    for (const line of lines) {
      number += 1
      for (const cut of records.add(line, number)) cuts.push(cut)
    }
    yield cuts
  }
  yield [...records.end()]
}

/** How much of a file is read to recognise JSON lines. */
const headBytes = 256 * 1024

/** The objects of JSON lines or of a JSON document. */
export async function* cutJson(
  chunks: Chunks,
  maxLineBytes: number,
  list: string | undefined,
): AsyncGenerator<Cut<JsonObject>[]> {
  const { head, all } = await peek(asUtf8(chunks))
  if (isJsonLines(head, list)) {
    for await (const lines of cutLines(all, maxLineBytes)) yield lines.map(parseCut)
    return
  }
  const records = new JsonRecords(list)
  for await (const chunk of all) yield [...records.add(chunk)]
  records.end()
}

function parseCut({ number, source }: Cut<string>): Cut<JsonObject> {
  if (source instanceof InvalidLine) return { number, source }
  try {
    return { number, source: parseJsonObject(source) }
  } catch (error) {
    if (!(error instanceof UnusableRecord)) throw error
    return { number, source: error }
  }
}

/** Whether each line is a value of its own. A damaged first line also counts if it could not go on. */
function isJsonLines(head: Buffer, list: string | undefined): boolean {
  const text = head
    .toString('utf8')
    .replace(/^\ufeff/, '')
    .trimStart()
  const end = text.indexOf('\n')
  const first = (end < 0 ? text : text.slice(0, end)).trimEnd()
  if (first.startsWith('[') || (end < 0 && head.length >= headBytes)) return false
  try {
    const value: unknown = JSON.parse(first)
    return !(isObject(value) && list !== undefined && Array.isArray(value[list]))
  } catch {
    return end >= 0 && !/[{[,:]$/.test(first)
  }
}

/** Reads until there is a line that is not empty, or `headBytes`. */
async function peek(chunks: Chunks): Promise<{ head: Buffer; all: Chunks }> {
  const rest = chunks[Symbol.asyncIterator]()
  const parts: Buffer[] = []
  let bytes = 0
  let isBlank = true
  for (let hasLine = false; bytes < headBytes && !hasLine; ) {
    const next = await rest.next()
    if (next.done) break
    parts.push(next.value)
    bytes += next.value.length
    const text = next.value.toString('latin1')
    hasLine = (isBlank ? text.trimStart() : text).includes('\n')
    isBlank &&= text.trim() === ''
  }
  const head = Buffer.concat(parts)
  return { head, all: rejoin(head, rest) }
}

async function* rejoin(head: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head
  yield* { [Symbol.asyncIterator]: () => rest }
}

/** Spreadsheets and Windows save files as UTF-16, of which every line would be reported. */
async function* asUtf8(chunks: Chunks): AsyncGenerator<Buffer> {
  let isFirst = true
  for await (const chunk of chunks) {
    const mark = isFirst && chunk.length >= 2 ? chunk.readUInt16BE() : 0
    if (mark === 0xfffe || mark === 0xfeff) throw new UnusableFile('it is UTF-16; save it as UTF-8')
    isFirst = false
    yield chunk
  }
}
