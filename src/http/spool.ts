import { type Cipheriv, createCipheriv, createDecipheriv, type Decipheriv, hash } from 'node:crypto'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Randomness } from '../domain/randomness.ts'

/** How much is kept in memory; what comes on top goes to a file. */
const maxMemoryBytes = 2 * 1024 * 1024
const maxPieceBytes = 256 * 1024

/**
 * What was made and not taken yet, in its order. Memory holds a little of it, a file the rest: one without a name, encrypted with a key
 * that nobody has but this process, so that nothing readable of it is ever on a disk.
 */
export class Spool {
  readonly #randomness: Randomness
  #queue: Buffer[] = []
  #queuedBytes = 0
  #file: SpoolFile | null = null
  #isEnded = false
  #wake: () => void = () => {}

  constructor(randomness: Randomness) {
    this.#randomness = randomness
  }

  /** One call at a time. */
  async add(text: string): Promise<void> {
    const bytes = Buffer.from(text)
    if (!this.#file?.hasMore && this.#queuedBytes + bytes.length <= maxMemoryBytes) {
      this.#queue.push(bytes)
      this.#queuedBytes += bytes.length
    } else {
      this.#file ??= await SpoolFile.create(this.#randomness)
      await this.#file.write(bytes)
    }
    this.#wake()
  }

  /** Nothing more will come. */
  end(): void {
    this.#isEnded = true
    this.#wake()
  }

  async *pieces(): AsyncGenerator<Buffer> {
    for (;;) {
      const piece = this.#queue.shift()
      if (piece) {
        this.#queuedBytes -= piece.length
        yield piece
      } else if (this.#file?.hasMore) yield await this.#file.read()
      else if (this.#isEnded) return
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  async close(): Promise<void> {
    this.#queue = []
    await this.#file?.close()
    this.#file = null
  }
}

class SpoolFile {
  readonly #handle: FileHandle
  readonly #cipher: Cipheriv
  readonly #decipher: Decipheriv
  #written = 0
  #taken = 0

  static async create(randomness: Randomness): Promise<SpoolFile> {
    const path = join(tmpdir(), `lethe-spool-${randomness.uuid()}`)
    const handle = await open(path, 'wx+', 0o600)
    await unlink(path)
    return new SpoolFile(handle, hash('sha256', randomness.base62(64), 'buffer'))
  }

  private constructor(handle: FileHandle, key: Buffer) {
    this.#handle = handle
    // No other file has this key. Written once and read once, both from the first byte to the last.
    const start = Buffer.alloc(16)
    this.#cipher = createCipheriv('aes-256-ctr', key, start)
    this.#decipher = createDecipheriv('aes-256-ctr', key, start)
  }

  get hasMore(): boolean {
    return this.#taken < this.#written
  }

  async write(bytes: Buffer): Promise<void> {
    const hidden = this.#cipher.update(bytes)
    for (let from = 0; from < hidden.length; ) {
      const { bytesWritten } = await this.#handle.write(hidden, from, hidden.length - from, this.#written)
      from += bytesWritten
      this.#written += bytesWritten
    }
  }

  async read(): Promise<Buffer> {
    const piece = Buffer.alloc(Math.min(maxPieceBytes, this.#written - this.#taken))
    const { bytesRead } = await this.#handle.read(piece, 0, piece.length, this.#taken)
    if (bytesRead === 0) throw new Error('A spool ends before its end.')
    this.#taken += bytesRead
    return this.#decipher.update(piece.subarray(0, bytesRead))
  }

  close(): Promise<void> {
    return this.#handle.close()
  }
}
