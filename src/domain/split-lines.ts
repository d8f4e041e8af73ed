import { isUtf8 } from 'node:buffer'
import { pipeline, Readable } from 'node:stream'
import { constants, createGunzip, createZstdDecompress } from 'node:zlib'
import { InvalidLine } from './ingest.ts'

/** The default maximum length of a line, without its line feed. */
export const defaultMaxLineBytes = 256 * 1024

const lineFeed = 0x0a
const byteOrderMark = '\ufeff'

/**
 * Splits bytes into lines and yields the lines that each chunk completes. Only a line feed ends a line,
 * because JSON strings may contain every other separator. An invalid line is yielded as an `InvalidLine`.
 */
export async function* splitLines(
  chunks: AsyncIterable<Buffer>,
  maxLineBytes = defaultMaxLineBytes,
): AsyncGenerator<(string | InvalidLine)[]> {
  const open = new OpenLine(maxLineBytes)
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
    const whole = firstEnd < end ? decodeLines(chunk.subarray(firstEnd + 1, end), maxLineBytes) : []
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

/** An incomplete line. The bytes of a line that is too long are discarded. */
class OpenLine {
  readonly #maxBytes: number
  #parts: Buffer[] = []
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get isEmpty(): boolean {
    return this.#bytes === 0
  }

  add(part: Buffer): void {
    if (part.length === 0) return
    this.#bytes += part.length
    if (this.#bytes > this.#maxBytes) this.#parts = []
    else this.#parts.push(part)
  }

  take(): string | InvalidLine {
    const line =
      this.#bytes > this.#maxBytes ? tooLong(this.#maxBytes) : decodeLine(Buffer.concat(this.#parts))
    this.#parts = []
    this.#bytes = 0
    return line
  }
}

/** Decodes and splits a block as a whole if it is short enough and valid UTF-8, otherwise line by line. */
function decodeLines(block: Buffer, maxLineBytes: number): (string | InvalidLine)[] {
  if (block.length <= maxLineBytes && isUtf8(block)) return block.toString('utf8').split('\n')
  const lines: (string | InvalidLine)[] = []
  for (let start = 0; start <= block.length; ) {
    const end = block.indexOf(lineFeed, start)
    const stop = end === -1 ? block.length : end
    const line = block.subarray(start, stop)
    lines.push(line.length > maxLineBytes ? tooLong(maxLineBytes) : decodeLine(line))
    start = stop + 1
  }
  return lines
}

function decodeLine(bytes: Buffer): string | InvalidLine {
  return isUtf8(bytes) ? bytes.toString('utf8') : new InvalidLine('not UTF-8')
}

export function tooLong(maxLineBytes: number): InvalidLine {
  return new InvalidLine(`longer than ${maxLineBytes / 1024} KiB (LETHE_MAX_LINE_KIB)`)
}

function skipByteOrderMark(lines: (string | InvalidLine)[]): void {
  const [first] = lines
  if (typeof first === 'string' && first.startsWith(byteOrderMark)) lines[0] = first.slice(1)
}

const chunkSize = 256 * 1024

/** Decompresses gzip and zstd, recognised by their first bytes; anything else is passed through. */
export async function* decompress(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const rest = chunks[Symbol.asyncIterator]()
  let head = Buffer.alloc(0)
  while (head.length < 4) {
    const next = await rest.next()
    if (next.done) break
    head = Buffer.concat([head, next.value])
  }
  const all = rejoin(head, rest)
  if (isGzip(head)) yield* decompressAs('gzip', all)
  else if (isZstd(head)) yield* decompressAs('zstd', all)
  else yield* all
}

export const compressions = ['gzip', 'zstd'] as const

/** Decompresses. For zstd, a frame that needs a window larger than `maxWindowLog` bits is an error. */
export function decompressAs(
  compression: (typeof compressions)[number],
  chunks: AsyncIterable<Buffer>,
  maxWindowLog?: number,
): AsyncIterable<Buffer> {
  return compression === 'gzip'
    ? through(chunks, createGunzip({ chunkSize }))
    : unpackZstd(chunks, maxWindowLog)
}

async function* rejoin(head: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head
  yield* { [Symbol.asyncIterator]: () => rest }
}

function isGzip(head: Buffer): boolean {
  return head.length >= 2 && head.readUInt16BE() === 0x1f8b
}

/** A zstd frame, or a skippable frame, with which some tools begin. */
function isZstd(head: Buffer): boolean {
  if (head.length < 4) return false
  const magic = head.readUInt32LE()
  return magic === 0xfd2fb528 || magic >>> 4 === 0x184d2a5
}

/** What zstd itself allows unless told otherwise. */
const defaultWindowLog = 27

/** Node silently ignores data after a frame that is not another frame; unread bytes reveal it. */
async function* unpackZstd(
  chunks: AsyncIterable<Buffer>,
  maxWindowLog = defaultWindowLog,
): AsyncGenerator<Buffer> {
  const params = { [constants.ZSTD_d_windowLogMax]: maxWindowLog }
  const engine = createZstdDecompress({ chunkSize, params })
  let fed = 0
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      fed += chunk.length
      yield chunk
    }
  }
  yield* through(counted(), engine)
  if (engine.bytesWritten < fed) {
    throw Object.assign(new Error('unknown frame'), { code: 'ZSTD_error_prefix_unknown' })
  }
}

function through(chunks: AsyncIterable<Buffer>, engine: NodeJS.ReadWriteStream & AsyncIterable<Buffer>) {
  // Errors of either stream reach the reader of the engine.
  pipeline(Readable.from(chunks), engine, () => {})
  return engine
}

/** Describes an error of decompression or of the file system. */
export function readFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const code = 'code' in error ? String(error.code) : ''
  if (code === 'Z_BUF_ERROR') return 'the compressed data is truncated'
  if (/^(Z_|ZSTD_)/.test(code)) return `the compressed data is damaged (${error.message})`
  return error.message
}
