import { isUtf8 } from 'node:buffer'
import { BadLine } from '../domain/import-line.ts'

/** The longest line, its end aside. */
export const maxLineBytes = 1024 * 1024

const lineFeed = 0x0a
const byteOrderMark = '\ufeff'

/**
 * Cuts bytes into lines, a block of them for each chunk that ends some. Only a line feed ends a line: JSON may hold every other
 * separator. What cannot be a line comes as the reason why. Chunks must not be longer than the longest line.
 */
export async function* splitLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<(string | BadLine)[]> {
  const open = new OpenLine()
  let isFirst = true
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(lineFeed)
    if (end === -1) {
      open.add(chunk)
      continue
    }
    const firstEnd = open.isEmpty ? -1 : chunk.indexOf(lineFeed)
    if (firstEnd >= 0) open.add(chunk.subarray(0, firstEnd))
    const opened = firstEnd >= 0 ? [open.take()] : []
    const whole = firstEnd < end ? decodeLines(chunk.subarray(firstEnd + 1, end)) : []
    const lines = opened.length > 0 ? [...opened, ...whole] : whole
    if (isFirst) skipByteOrderMark(lines)
    isFirst = false
    open.add(chunk.subarray(end + 1))
    yield lines
  }
  if (open.isEmpty) return
  const last = [open.take()]
  if (isFirst) skipByteOrderMark(last)
  yield last
}

/** The line whose end is still to come. Of one that has become too long nothing is kept. */
class OpenLine {
  #parts: Buffer[] = []
  #bytes = 0

  get isEmpty(): boolean {
    return this.#bytes === 0
  }

  add(part: Buffer): void {
    if (part.length === 0) return
    this.#bytes += part.length
    if (this.#bytes > maxLineBytes) this.#parts = []
    else this.#parts.push(part)
  }

  take(): string | BadLine {
    const line =
      this.#bytes > maxLineBytes ? new BadLine('longer than 1 MiB') : decodeLine(Buffer.concat(this.#parts))
    this.#parts = []
    this.#bytes = 0
    return line
  }
}

/** A whole block at once where it can be: one look at its bytes, one text, one split. */
function decodeLines(block: Buffer): (string | BadLine)[] {
  if (isUtf8(block)) return block.toString('utf8').split('\n')
  const lines: (string | BadLine)[] = []
  for (let start = 0; start <= block.length; ) {
    const end = block.indexOf(lineFeed, start)
    const stop = end === -1 ? block.length : end
    lines.push(decodeLine(block.subarray(start, stop)))
    start = stop + 1
  }
  return lines
}

function decodeLine(bytes: Buffer): string | BadLine {
  return isUtf8(bytes) ? bytes.toString('utf8') : new BadLine('not UTF-8')
}

function skipByteOrderMark(lines: (string | BadLine)[]): void {
  const [first] = lines
  if (typeof first === 'string' && first.startsWith(byteOrderMark)) lines[0] = first.slice(1)
}
