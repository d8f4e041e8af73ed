import { pipeline, Readable } from 'node:stream'
import { createGunzip, createZstdDecompress } from 'node:zlib'

const chunkSize = 256 * 1024

/** The bytes as they were before gzip or zstd, told by how they begin; any others as they are. */
export async function* decompress(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const rest = chunks[Symbol.asyncIterator]()
  let head = Buffer.alloc(0)
  while (head.length < 4) {
    const next = await rest.next()
    if (next.done) break
    head = Buffer.concat([head, next.value])
  }
  const all = rejoin(head, rest)
  if (isGzip(head)) yield* through(all, createGunzip({ chunkSize }))
  else if (isZstd(head)) yield* unpackZstd(all)
  else yield* all
}

async function* rejoin(head: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head
  yield* { [Symbol.asyncIterator]: () => rest }
}

function isGzip(head: Buffer): boolean {
  return head.length >= 2 && head.readUInt16BE() === 0x1f8b
}

/** A frame, or one of those to be skipped, with which some tools begin. */
function isZstd(head: Buffer): boolean {
  if (head.length < 4) return false
  const magic = head.readUInt32LE()
  return magic === 0xfd2fb528 || magic >>> 4 === 0x184d2a5
}

/** Node takes what follows a frame and is none for the end, and says nothing; what it left unread tells. */
async function* unpackZstd(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const engine = createZstdDecompress({ chunkSize })
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
  // A failure of either end reaches whoever reads the engine.
  pipeline(Readable.from(chunks), engine, () => {})
  return engine
}

/** What went wrong with reading, in words: of what decompression can meet, and of what the system says. */
export function readFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const code = 'code' in error ? String(error.code) : ''
  if (code === 'Z_BUF_ERROR') return 'the compressed data breaks off'
  if (/^(Z_|ZSTD_)/.test(code)) return `the compressed data is damaged (${error.message})`
  return error.message
}
