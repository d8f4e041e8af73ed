import { crc32, deflateSync } from 'node:zlib'

export function pngChunk(type: string, data: Buffer = Buffer.alloc(0)): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const check = Buffer.alloc(4)
  check.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, check])
}

export function pngFile(...chunks: readonly Buffer[]): Buffer {
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...chunks])
}

interface PngHeader {
  width: number
  height: number
  depth?: number
  colour?: number
  interlace?: number
}

export function pngHeader({ width, height, depth = 8, colour = 6, interlace = 0 }: PngHeader): Buffer {
  const data = Buffer.alloc(13)
  data.writeUInt32BE(width, 0)
  data.writeUInt32BE(height, 4)
  data.set([depth, colour, 0, 0, interlace], 8)
  return pngChunk('IHDR', data)
}

/** The pixels of an opaque green image with an alpha channel. */
export function greenPixels(width: number, height: number): Buffer {
  const row = Buffer.concat([Buffer.from([0]), Buffer.from('0d6570ff'.repeat(width), 'hex')])
  return deflateSync(Buffer.concat(Array.from({ length: height }, () => row)))
}

export function greenPng(width: number, height: number): Buffer {
  return pngFile(pngHeader({ width, height }), pngChunk('IDAT', greenPixels(width, height)), pngChunk('IEND'))
}
