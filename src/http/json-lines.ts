import { isUtf8 } from 'node:buffer'
import { LetheError, type Problems } from '../domain/errors.ts'
import type { InvalidLine } from '../domain/ingest.ts'
import { tooLong } from '../domain/split-lines.ts'
import { addUnknown } from './parameters.ts'
import { maxBodyBytes } from './request-body.ts'

type Line = string | InvalidLine

const [quote, backslash, comma] = Buffer.from('"\\,')
const [openArray, closeArray, openObject, closeObject] = Buffer.from('[]{}')

/** The text before the first item, and after the last one. */
const start = /^\s*\{\s*"lines"\s*:\s*\[/
const end = /^\s*\}\s*$/

/** Reads the items of `{"lines": […]}` as lines, while the text arrives. */
export class JsonLines {
  readonly #maxLineBytes: number
  #state: 'start' | 'list' | 'end' = 'start'
  /** The text before or after the list. */
  #frame = Buffer.alloc(0)
  #item: Buffer[] = []
  #itemBytes = 0
  /** The number of open brackets within the item. */
  #depth = 0
  #isInText = false
  #isEscaped = false
  #count = 0

  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes
  }

  /**
   * Throws `invalid_request` for a text that is not JSON in UTF-8, possibly after some lines. Other JSON is a
   * problem.
   */
  async *read(chunks: AsyncIterable<Buffer>, problems: Problems): AsyncGenerator<Line[]> {
    for await (const chunk of chunks) {
      const rest = this.#state === 'start' ? this.#readStart(chunk) : chunk
      const lines: Line[] = []
      const after = this.#state === 'list' ? this.#readItems(rest, lines) : rest
      if (this.#state === 'end') this.#addToFrame(after)
      if (lines.length > 0) yield lines
    }
    const frame = textOf(this.#frame)
    if (this.#state === 'list') throw notJson()
    if (this.#state === 'start') addProblems(parse(frame), problems)
    else if (!end.test(frame)) addProblems(parse(`{"lines":[]${frame}`), problems)
  }

  /** Returns what follows the start of the list. */
  #readStart(chunk: Buffer): Buffer {
    this.#addToFrame(chunk)
    const [found] = start.exec(this.#frame.toString('latin1')) ?? []
    if (found === undefined) return Buffer.alloc(0)
    const rest = this.#frame.subarray(found.length)
    this.#frame = Buffer.alloc(0)
    this.#state = 'list'
    return rest
  }

  #addToFrame(chunk: Buffer): void {
    this.#frame = Buffer.concat([this.#frame, chunk])
    const isStart = this.#state === 'start' && start.test(this.#frame.toString('latin1', 0, maxBodyBytes))
    if (this.#frame.length > maxBodyBytes && !isStart)
      throw new LetheError('invalid_request', 'Apart from lines, the body must have at most 64 KiB.')
  }

  /** Adds the complete items to `lines` and returns what follows the end of the list. */
  #readItems(chunk: Buffer, lines: Line[]): Buffer {
    let from = 0
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]
      if (this.#isInText) this.#readText(byte)
      else if (this.#depth === 0 && (byte === comma || byte === closeArray)) {
        this.#addToItem(chunk.subarray(from, at))
        from = at + 1
        const isEmpty = byte === closeArray && this.#count === 0
        const line = this.#takeItem(isEmpty)
        if (line !== null) lines.push(line)
        if (byte === closeArray) {
          this.#state = 'end'
          return chunk.subarray(from)
        }
      } else this.#readStructure(byte)
    }
    this.#addToItem(chunk.subarray(from))
    return Buffer.alloc(0)
  }

  #readText(byte: number | undefined): void {
    if (this.#isEscaped) this.#isEscaped = false
    else if (byte === backslash) this.#isEscaped = true
    else if (byte === quote) this.#isInText = false
  }

  #readStructure(byte: number | undefined): void {
    if (byte === quote) this.#isInText = true
    else if (byte === openObject || byte === openArray) this.#depth += 1
    else if (byte === closeObject || byte === closeArray) this.#depth -= 1
    if (this.#depth < 0) throw notJson()
  }

  /** The bytes of an item that is too long are discarded. */
  #addToItem(part: Buffer): void {
    this.#itemBytes += part.length
    if (this.#itemBytes > this.#maxLineBytes) this.#item = []
    else this.#item.push(part)
  }

  /** The item before a comma or the end of the list; `null` in an empty list. */
  #takeItem(mayBeAbsent: boolean): Line | null {
    const isTooLong = this.#itemBytes > this.#maxLineBytes
    const text = isTooLong ? '' : textOf(Buffer.concat(this.#item)).trim()
    this.#item = []
    this.#itemBytes = 0
    if (isTooLong) {
      this.#count += 1
      return tooLong(this.#maxLineBytes)
    }
    if (mayBeAbsent && text === '') return null
    parse(text)
    this.#count += 1
    return text
  }
}

function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw notJson()
  return bytes.toString()
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw notJson()
  }
}

function notJson(): LetheError {
  return new LetheError('invalid_request', 'The body must be a JSON object in UTF-8.')
}

/** What is wrong with a body that is not of the expected form. */
function addProblems(value: unknown, problems: Problems): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    problems.add('body', 'body must be a JSON object')
    return
  }
  const others = Object.keys(value).filter((name) => name !== 'lines')
  for (const name of others) addUnknown(name, problems)
  if (!('lines' in value) || !Array.isArray(value.lines)) problems.add('lines', 'lines must be a list')
  else if (others.length === 0) problems.add('lines', 'lines must be given once')
}
