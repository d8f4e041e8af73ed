import { crc32, createDeflateRaw } from 'node:zlib'
import type { Instant } from '../../domain/instant.ts'
import { Compressor } from '../compressor.ts'
import { dataDescriptor, directoryRecord, endOfDirectory, localHeader, type ZipEntry } from './zip-records.ts'

/** How many characters of a file are collected before they are compressed. */
const collectedLength = 64 * 1024
/** How many bytes of the archive are collected before they are passed on. */
const blockBytes = 64 * 1024
/** Takes a fifth of the time of zlib's default level, for about the same size. */
const level = 3

/** A file that is being written. */
interface OpenFile {
  entry: ZipEntry
  compressor: Compressor
  text: string
}

/**
 * Writes a ZIP file to a stream, file by file, in constant memory for their content. An archive without its
 * end cannot be opened, so one that opens is complete.
 */
export class ZipWriter {
  readonly #take: (block: Buffer) => Promise<void>
  readonly #directory: Buffer[] = []
  #file: OpenFile | null = null
  #block: Buffer[] = []
  #blockBytes = 0
  /** The number of bytes written so far. */
  #offset = 0

  constructor(take: (block: Buffer) => Promise<void>) {
    this.#take = take
  }

  /** Begins a file, after the one before was ended. The name is ASCII, with `/` between folders. */
  async begin(name: string, modifiedAt: Instant): Promise<void> {
    const entry = { name, modifiedAt, offset: this.#offset, checksum: 0, packedBytes: 0, bytes: 0 }
    await this.#write(localHeader(entry))
    const compressor = new Compressor(createDeflateRaw({ level, chunkSize: blockBytes }), async (piece) => {
      entry.packedBytes += piece.length
      await this.#write(piece)
    })
    this.#file = { entry, compressor, text: '' }
  }

  /** Adds to the current file. */
  async add(text: string): Promise<void> {
    const file = this.#current()
    file.text += text
    if (file.text.length >= collectedLength) await compressText(file)
  }

  /** Ends the current file. */
  async end(): Promise<void> {
    const file = this.#current()
    await compressText(file)
    await file.compressor.end()
    this.#file = null
    this.#directory.push(directoryRecord(file.entry))
    await this.#write(dataDescriptor(file.entry))
  }

  /** Ends the archive. */
  async finish(): Promise<void> {
    const offset = this.#offset
    for (const record of this.#directory) await this.#write(record)
    const directory = { entries: this.#directory.length, bytes: this.#offset - offset, offset }
    await this.#write(endOfDirectory(directory))
    await this.#passOn()
  }

  /** Releases what the current file uses. The archive stays incomplete. */
  async abandon(): Promise<void> {
    await this.#file?.compressor.abandon()
  }

  #current(): OpenFile {
    if (this.#file === null) throw new Error('No file of the archive is open.')
    return this.#file
  }

  async #write(bytes: Buffer): Promise<void> {
    this.#offset += bytes.length
    this.#block.push(bytes)
    this.#blockBytes += bytes.length
    if (this.#blockBytes >= blockBytes) await this.#passOn()
  }

  async #passOn(): Promise<void> {
    const block = Buffer.concat(this.#block, this.#blockBytes)
    this.#block = []
    this.#blockBytes = 0
    await this.#take(block)
  }
}

async function compressText(file: OpenFile): Promise<void> {
  const bytes = Buffer.from(file.text)
  file.text = ''
  if (bytes.length === 0) return
  file.entry.checksum = crc32(bytes, file.entry.checksum)
  file.entry.bytes += bytes.length
  await file.compressor.write(bytes)
}
