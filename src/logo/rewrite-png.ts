import { crc32, createInflate } from 'node:zlib'
import { maxLogoPixels } from '../domain/organisation-profile.ts'
import { UnusableLogo } from './unusable-logo.ts'

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

export function isPng(bytes: Buffer): boolean {
  return bytes.subarray(0, signature.length).equals(signature)
}

interface Header {
  width: number
  height: number
  bitsPerPixel: number
  isInterlaced: boolean
  hasPalette: boolean
}

interface SafePng {
  bytes: Buffer
  width: number
  height: number
}

/** Chunks that change how the image looks. All others are left out, such as text, times and profiles. */
const keptChunks = ['IHDR', 'PLTE', 'tRNS', 'gAMA', 'sRGB', 'IDAT', 'IEND']

/**
 * Writes a PNG again with the chunks that define its image. Throws `UnusableLogo` unless its structure is
 * valid and its data is exactly one image.
 */
export async function rewritePng(bytes: Buffer): Promise<SafePng> {
  const chunks = readChunks(bytes)
  const header = readHeader(chunks[0])
  checkOrder(chunks, header)
  await checkImage(chunks, header)
  const { width, height } = header
  const kept = chunks.filter(({ type }) => keptChunks.includes(type)).map(({ whole }) => whole)
  return { bytes: Buffer.concat([signature, ...kept]), width, height }
}

interface Chunk {
  type: string
  data: Buffer
  whole: Buffer
}

function readChunks(bytes: Buffer): Chunk[] {
  const chunks: Chunk[] = []
  let at = signature.length
  while (at < bytes.length) {
    const length = at + 12 <= bytes.length ? bytes.readUInt32BE(at) : Number.POSITIVE_INFINITY
    const end = at + 12 + length
    if (end > bytes.length) throw new UnusableLogo('is an incomplete PNG image')
    const whole = bytes.subarray(at, end)
    const type = whole.toString('latin1', 4, 8)
    if (!/^[A-Za-z]{4}$/.test(type) || crc32(whole.subarray(4, -4)) !== whole.readUInt32BE(8 + length))
      throw new UnusableLogo('is a damaged PNG image')
    chunks.push({ type, data: whole.subarray(8, -4), whole })
    at = end
  }
  return chunks
}

/** The channels of each colour type, and its bits per channel. */
const colourTypes: Readonly<Record<number, { channels: number; depths: readonly number[] }>> = {
  0: { channels: 1, depths: [1, 2, 4, 8, 16] },
  2: { channels: 3, depths: [8, 16] },
  3: { channels: 1, depths: [1, 2, 4, 8] },
  4: { channels: 2, depths: [8, 16] },
  6: { channels: 4, depths: [8, 16] },
}

function readHeader(chunk: Chunk | undefined): Header {
  if (chunk?.type !== 'IHDR' || chunk.data.length !== 13) throw invalid()
  const { data } = chunk
  const [width, height] = [data.readUInt32BE(0), data.readUInt32BE(4)]
  const [depth = 0, colour = 0, compression = 0, filter = 0, interlace = 0] = data.subarray(8)
  const type = colourTypes[colour]
  if (!type?.depths.includes(depth) || compression !== 0 || filter !== 0 || interlace > 1) throw invalid()
  if (width === 0 || height === 0 || Math.max(width, height) > maxLogoPixels)
    throw new UnusableLogo(`must be at most ${maxLogoPixels} pixels wide and high, not ${width} × ${height}`)
  const bitsPerPixel = depth * type.channels
  return { width, height, bitsPerPixel, isInterlaced: interlace === 1, hasPalette: colour === 3 }
}

/** One header, at most one palette, then the image in adjacent chunks, and nothing after the end. */
function checkOrder(chunks: readonly Chunk[], { hasPalette }: Header): void {
  const critical = chunks.filter(({ type }) => /^[A-Z]/.test(type)).map(({ type }) => type)
  if (!/^IHDR (?:PLTE )?(?:IDAT )+IEND$/.test(critical.join(' '))) throw invalid()
  const first = chunks.findIndex(({ type }) => type === 'IDAT')
  const last = chunks.findLastIndex(({ type }) => type === 'IDAT')
  if (chunks.slice(first, last).some(({ type }) => type !== 'IDAT')) throw invalid()
  const end = chunks.at(-1)
  if (end?.type !== 'IEND' || end.data.length > 0) throw invalid()
  const palette = chunks.find(({ type }) => type === 'PLTE')?.data.length
  if (palette === undefined ? hasPalette : palette === 0 || palette > 768 || palette % 3 !== 0)
    throw invalid()
  for (const name of ['tRNS', 'gAMA', 'sRGB']) {
    const found = chunks.filter(({ type }) => type === name)
    if (found.length > 1 || (found[0] && (found[0].data.length > 256 || chunks.indexOf(found[0]) > first)))
      throw invalid()
  }
}

/** The image data must have exactly the size of the image, so that nothing else is hidden in it. */
async function checkImage(chunks: readonly Chunk[], header: Header): Promise<void> {
  const data = Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data))
  const size = rawSize(header)
  const { length, consumed } = await inflated(data, size)
  if (length !== size || consumed !== data.length) throw invalid()
}

/** How many bytes the data expands to, counted up to a little more than `maxLength`, and how many it has. */
function inflated(data: Buffer, maxLength: number): Promise<{ length: number; consumed: number }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ length: number; consumed: number }>()
  const inflater = createInflate()
  let length = 0
  inflater.on('data', (part: Buffer) => {
    length += part.length
    if (length > maxLength) inflater.destroy(invalid())
  })
  inflater.on('error', () => reject(invalid()))
  inflater.on('end', () => resolve({ length, consumed: inflater.bytesWritten }))
  inflater.end(data)
  return promise
}

/** The first pixel and the distance of pixels in each pass of an interlaced image. */
const passes = [
  ...[
    { x: 0, y: 0, right: 8, down: 8 },
    { x: 4, y: 0, right: 8, down: 8 },
  ],
  ...[
    { x: 0, y: 4, right: 4, down: 8 },
    { x: 2, y: 0, right: 4, down: 4 },
  ],
  ...[
    { x: 0, y: 2, right: 2, down: 4 },
    { x: 1, y: 0, right: 2, down: 2 },
  ],
  { x: 0, y: 1, right: 1, down: 2 },
]

/** Each row has a byte for its filter. */
function rawSize({ width, height, bitsPerPixel, isInterlaced }: Header): number {
  const sizeOf = (columns: number, rows: number) =>
    columns === 0 ? 0 : rows * (1 + Math.ceil((columns * bitsPerPixel) / 8))
  if (!isInterlaced) return sizeOf(width, height)
  return passes
    .map(({ x, y, right, down }) =>
      sizeOf(Math.max(0, Math.ceil((width - x) / right)), Math.max(0, Math.ceil((height - y) / down))),
    )
    .reduce((sum, size) => sum + size)
}

function invalid(): UnusableLogo {
  return new UnusableLogo('is not a valid PNG image')
}
