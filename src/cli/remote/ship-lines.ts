import { isUtf8 } from 'node:buffer'
import { maxBatchBytes, maxBatchLines } from '@lethe/client'

const lineFeed = 0x0a
const openingBrace = 0x7b
const byteOrderMark = Buffer.from('\ufeff')

/** A line of a file, without its line feed. */
export interface CutLine {
  /** From 1. */
  number: number
  content: Buffer
  /** Where the next line starts. */
  end: number
  /** Why the line cannot be sent; then a line that is too long has no content. */
  problem: string | null
}

/** Where a line starts: how many bytes and lines precede it. */
export interface LineStart {
  offset: number
  lines: number
}

/** Cuts bytes into lines. The bytes of a line that is too long are discarded. */
export class LineCutter {
  readonly #maxLineBytes: number
  #start: LineStart
  #parts: Buffer[] = []
  #openBytes = 0

  constructor(maxLineBytes: number, start: LineStart) {
    this.#maxLineBytes = maxLineBytes
    this.#start = start
  }

  /** Where the line starts that is not complete yet. */
  get start(): LineStart {
    return this.#start
  }

  /** How much of it there is. */
  get openBytes(): number {
    return this.#openBytes
  }

  /** The lines that the bytes complete. */
  *add(bytes: Buffer): Generator<CutLine> {
    for (let from = 0; ; ) {
      const end = bytes.indexOf(lineFeed, from)
      this.#keep(bytes.subarray(from, end < 0 ? bytes.length : end))
      if (end < 0) return
      yield this.#take(1)
      from = end + 1
    }
  }

  /** The last line, if it has no line feed; `null` if nothing is left. */
  finish(): CutLine | null {
    return this.#openBytes === 0 ? null : this.#take(0)
  }

  #keep(part: Buffer): void {
    this.#openBytes += part.length
    if (this.#openBytes > this.#maxLineBytes) this.#parts = []
    else if (part.length > 0) this.#parts.push(part)
  }

  #take(lineFeeds: 0 | 1): CutLine {
    const isTooLong = this.#openBytes > this.#maxLineBytes
    const number = this.#start.lines + 1
    const end = this.#start.offset + this.#openBytes + lineFeeds
    const whole = Buffer.concat(this.#parts)
    const hasMark = number === 1 && whole.subarray(0, byteOrderMark.length).equals(byteOrderMark)
    const content = hasMark ? whole.subarray(byteOrderMark.length) : whole
    this.#start = { offset: end, lines: number }
    this.#parts = []
    this.#openBytes = 0
    const tooLong = `longer than ${this.#maxLineBytes / 1024} KiB (LETHE_MAX_LINE_KIB)`
    const problem = isTooLong ? tooLong : isUtf8(content) ? null : 'not UTF-8'
    return { number, content, end, problem }
  }
}

/** Consecutive lines that are sent together. */
export class ShipBatch {
  /** The lines to send. */
  readonly lines: CutLine[] = []
  /** The lines that cannot be sent. */
  readonly unusable: CutLine[] = []
  #bytes = 0
  #end: LineStart | null = null

  /** Where the first line after the batch starts; `null` if nothing was added. */
  get end(): LineStart | null {
    return this.#end
  }

  /** Whether the line can still be added. */
  hasRoomFor({ content }: CutLine): boolean {
    const isFull = this.lines.length >= maxBatchLines || this.unusable.length >= maxBatchLines
    return !isFull && this.#bytes + content.length + 1 <= maxBatchBytes
  }

  /** Adds a line. Empty lines are skipped. */
  add(line: CutLine): void {
    this.#end = { offset: line.end, lines: line.number }
    if (line.problem !== null) this.unusable.push(line)
    else if (!isBlank(line.content)) {
      this.lines.push(line)
      this.#bytes += line.content.length + 1
    }
  }
}

function isBlank(content: Buffer): boolean {
  return content[0] !== openingBrace && content.toString().trim() === ''
}
