import { type Cipheriv, createCipheriv, createDecipheriv, type Decipheriv, hash } from 'node:crypto'
import { statfsSync } from 'node:fs'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Randomness } from '../domain/randomness.ts'

/** How much is kept in memory; what comes on top goes to a file. */
const maxMemoryBytes = 2 * 1024 * 1024
const maxPieceBytes = 256 * 1024

/** How much the files of all spools may hold, where half of what is free leaves as much. */
const maxFileBytes = 4 * 1024 ** 3

/** The disk's room that spools share. */
export class SpoolRoom {
  #maxBytes: number | null
  readonly #bytes = new Map<Spool, number>()
  #totalBytes = 0

  constructor(maxBytes: number | null = null) {
    this.#maxBytes = maxBytes
  }

  /** Counts what a spool puts into its file. While there is no room for it, whoever has most to take is cut off. */
  take(spool: Spool, bytes: number): void {
    this.#maxBytes ??= Math.min(maxFileBytes, freeBytes() / 2)
    this.#bytes.set(spool, (this.#bytes.get(spool) ?? 0) + bytes)
    this.#totalBytes += bytes
    while (this.#totalBytes > this.#maxBytes) {
      const slowest = [...this.#bytes.keys()].reduce((a, b) => (b.untakenBytes > a.untakenBytes ? b : a))
      this.release(slowest)
      slowest.cutOff()
    }
  }

  release(spool: Spool): void {
    this.#totalBytes -= this.#bytes.get(spool) ?? 0
    this.#bytes.delete(spool)
  }
}

function freeBytes(): number {
  const { bavail, bsize } = statfsSync(tmpdir())
  return bavail * bsize
}

/**
 * What was made and not taken yet, in its order. Memory holds a little of it, a file the rest: one without a name, encrypted with a key
 * that nobody has but this process, so that nothing readable of it is ever on a disk.
 */
export class Spool {
  readonly #randomness: Randomness
  readonly #room: SpoolRoom
  /** Has its client go. */
  readonly cutOff: () => void
  #queue: Buffer[] = []
  #queuedBytes = 0
  #file: SpoolFile | null = null
  #isEnded = false
  #wake: () => void = () => {}

  constructor({ randomness, room }: { randomness: Randomness; room: SpoolRoom }, cutOff: () => void) {
    this.#randomness = randomness
    this.#room = room
    this.cutOff = cutOff
  }

  get untakenBytes(): number {
    return this.#queuedBytes + (this.#file?.untakenBytes ?? 0)
  }

  /** One call at a time. */
  async add(text: string): Promise<void> {
    const bytes = Buffer.from(text)
    if (!this.#file?.untakenBytes && this.#queuedBytes + bytes.length <= maxMemoryBytes) {
      this.#queue.push(bytes)
      this.#queuedBytes += bytes.length
    } else {
      this.#file ??= await SpoolFile.create(this.#randomness)
      await this.#file.write(bytes)
      this.#room.take(this, bytes.length)
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
      } else if (this.#file?.untakenBytes) yield await this.#file.read()
      else if (this.#isEnded) return
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  async close(): Promise<void> {
    this.#room.release(this)
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

  get untakenBytes(): number {
    return this.#written - this.#taken
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
