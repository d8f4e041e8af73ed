import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { LetheError, type Problems } from '../domain/errors.ts'
import { compressions, decompressAs, readFailure, splitLines } from '../domain/split-lines.ts'
import type { LineBlock } from '../operations/ingest.ts'
import { JsonLines } from './json-lines.ts'
import { hasBody, receive } from './request-body.ts'

/** The maximum size of a batch, decoded. */
export const maxBatchBytes = 4 * 1024 * 1024
export const maxBatchLines = 10_000
/** 8 MiB, as much as zstd needs at its usual levels. */
const maxWindowLog = 23

type LineReader = (
  chunks: AsyncIterable<Buffer>,
  maxLineBytes: number,
  problems: Problems,
) => AsyncIterable<LineBlock['lines']>

const readers: ReadonlyMap<string, LineReader> = new Map<string, LineReader>([
  ['application/x-ndjson', splitLines],
  ['application/json', (chunks, maxBytes, problems) => new JsonLines(maxBytes).read(chunks, problems)],
])

/** Whether a batch may be so large that only few should be read concurrently. */
export function isLargeBatch({ headers }: IncomingMessage, smallBytes: number): boolean {
  const isSmall = Number(headers['content-length']) <= smallBytes
  return headers['content-encoding'] !== undefined || !isSmall
}

/**
 * Reads a batch of lines. Throws `invalid_request` for another type or encoding, a damaged or incomplete
 * body, and too many bytes or lines. JSON of another form is a problem.
 */
export async function readLines(
  request: IncomingMessage,
  maxLineBytes: number,
  problems: Problems,
): Promise<LineBlock[]> {
  const read = readerFor(request)
  const compression = compressionOf(request)
  const body = new PassThrough()
  const decoded = compression === null ? body : decompressAs(compression, body, maxWindowLog)
  const received = receiveInto(body, request)
  const blocks: LineBlock[] = []
  let count = 0
  try {
    for await (const lines of read(upTo(maxBatchBytes, decoded), maxLineBytes, problems)) {
      blocks.push({ source: '', firstNumber: count + 1, lines })
      count += lines.length
      if (count > maxBatchLines) throw tooMany(`${maxBatchLines.toLocaleString('en')} lines`)
    }
  } catch (error) {
    throw toRefusal(error)
  } finally {
    body.destroy()
  }
  await received
  return blocks
}

function readerFor({ headers }: IncomingMessage): LineReader {
  const [type = ''] = (headers['content-type'] ?? '').split(';')
  const reader = readers.get(type.trim().toLowerCase())
  if (reader) return reader
  throw new LetheError('invalid_request', `The Content-Type must be ${[...readers.keys()].join(' or ')}.`)
}

function compressionOf({ headers }: IncomingMessage): (typeof compressions)[number] | null {
  const encoding = (headers['content-encoding'] ?? 'identity').trim().toLowerCase().replace(/^x-/, '')
  if (encoding === 'identity') return null
  const known = compressions.find((each) => each === encoding)
  if (known) return known
  throw new LetheError('invalid_request', 'The Content-Encoding must be gzip or zstd, or absent.')
}

/** An error destroys the stream, so that its reader fails. */
async function receiveInto(body: PassThrough, request: IncomingMessage): Promise<void> {
  try {
    const add = (chunk: Buffer) => {
      if (!body.destroyed) body.write(chunk)
    }
    if (hasBody(request)) await receive(request, add, maxBatchBytes)
    body.end()
  } catch (error) {
    body.destroy(error instanceof Error ? error : new Error(String(error)))
  }
}

async function* upTo(maxBytes: number, chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > maxBytes) throw tooMany('4 MiB, decoded')
    yield chunk
  }
}

function tooMany(limit: string): LetheError {
  return new LetheError('invalid_request', `A batch must have at most ${limit}.`)
}

/** Damaged data is the client's fault. */
function toRefusal(error: unknown): unknown {
  const isDamaged = error instanceof Error && 'code' in error && /^(Z_|ZSTD_)/.test(String(error.code))
  return isDamaged ? new LetheError('invalid_request', `Cannot read the body: ${readFailure(error)}.`) : error
}
