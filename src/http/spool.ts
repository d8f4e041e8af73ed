import { type Cipheriv, createCipheriv, createDecipheriv, type Decipheriv, hash } from 'node:crypto'
import { type FileHandle, open, statfs, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Randomness } from '../domain/randomness.ts'

/** How much of a response is kept in memory at most. */
const maxMemoryBytes = 2 * 1024 * 1024
/** The unit in which the file is written and read. */
const blockBytes = 64 * 1024
/** The maximum size of the file; it also uses at most half of the free space of its disk. */
const maxFileBytes = 4 * 1024 ** 3
/** After how many blocks the free space is checked again. */
const blocksBetweenChecks = 256

/** A part of the file. */
interface Block {
  position: number
  bytes: number
}

interface RoomOptions {
  /** The folder of the file; `null` for the system's temporary folder. */
  folder: string | null
  randomness: Randomness
  maxBytes?: number
}

/**
 * The file that all spools share, to need only one handle. It has no name and exists only while it is used.
 */
export class SpoolRoom {
  readonly randomness: Randomness
  readonly #folder: string
  readonly #maxBytes: number
  #allowedBytes = 0
  #file: Promise<FileHandle> | null = null
  #size = 0
  #free: number[] = []
  /** The number of blocks of each spool, except those that were cut off. */
  readonly #blocks = new Map<Spool, number>()
  #total = 0
  #used = 0

  constructor({ folder, randomness, maxBytes = maxFileBytes }: RoomOptions) {
    this.randomness = randomness
    this.#folder = folder ?? tmpdir()
    this.#maxBytes = maxBytes
  }

  /**
   * Writes at most a block. Without space, it cuts off the largest spool of the owner with the most blocks.
   */
  async write(spool: Spool, bytes: Buffer): Promise<Block> {
    const position = this.#free.pop() ?? this.#size++
    this.#used += 1
    this.#file ??= this.#create()
    try {
      const file = await this.#file
      if (this.#allowedBytes === 0 || this.#size % blocksBetweenChecks === 0) await this.#checkSpace()
      this.#count(spool, 1)
      while (this.#total * blockBytes > this.#allowedBytes) this.#cutOff()
      for (let from = 0; from < bytes.length; ) {
        const at = position * blockBytes + from
        from += (await file.write(bytes, from, bytes.length - from, at)).bytesWritten
      }
      return { position, bytes: bytes.length }
    } catch (error) {
      await this.#release(position)
      throw error
    }
  }

  async read(spool: Spool, { position, bytes }: Block): Promise<Buffer> {
    const file = await this.#file
    const piece = Buffer.alloc(bytes)
    for (let from = 0; from < bytes; ) {
      const { bytesRead = 0 } =
        (await file?.read(piece, from, bytes - from, position * blockBytes + from)) ?? {}
      if (bytesRead === 0) throw new Error('Unexpected end of the spool file.')
      from += bytesRead
    }
    await this.free(spool, [position])
    return piece
  }

  async free(spool: Spool, positions: readonly number[]): Promise<void> {
    this.#count(spool, -positions.length)
    for (const position of positions) await this.#release(position)
  }

  async #release(position: number): Promise<void> {
    this.#free.push(position)
    this.#used -= 1
    const made = this.#file
    if (this.#used > 0) return
    const file = await made?.catch(() => null)
    // The file may have been used again or closed in the meantime.
    if (this.#used > 0 || this.#file !== made) return
    this.#file = null
    this.#size = 0
    this.#free = []
    await file?.close()
  }

  #count(spool: Spool, blocks: number): void {
    if (spool.isCutOff) return
    this.#blocks.set(spool, (this.#blocks.get(spool) ?? 0) + blocks)
    if (this.#blocks.get(spool) === 0) this.#blocks.delete(spool)
    this.#total += blocks
  }

  #cutOff(): void {
    const owners = new Map<string | null, number>()
    for (const [{ owner }, blocks] of this.#blocks) owners.set(owner, (owners.get(owner) ?? 0) + blocks)
    const [heaviest] = [...owners].reduce((a, b) => (b[1] > a[1] ? b : a))
    const [spool, blocks] = [...this.#blocks]
      .filter(([{ owner }]) => owner === heaviest)
      .reduce((a, b) => (b[1] > a[1] ? b : a))
    this.#count(spool, -blocks)
    spool.cutOff()
  }

  #create(): Promise<FileHandle> {
    return createUnnamed(this.#folder, this.randomness)
  }

  async #checkSpace(): Promise<void> {
    const { bavail, bsize } = await statfs(this.#folder)
    this.#allowedBytes = Math.min(this.#maxBytes, (this.#total * blockBytes + bavail * bsize) / 2)
  }
}

async function createUnnamed(folder: string, randomness: Randomness): Promise<FileHandle> {
  const path = join(folder, `lethe-spool-${randomness.uuid()}`)
  const file = await open(path, 'wx+', 0o600)
  await unlink(path)
  return file
}

/** Throws an error for the operator if no file can be created in the folder. */
export async function requireSpoolFolder(folder: string, randomness: Randomness): Promise<void> {
  try {
    await (await createUnnamed(folder, randomness)).close()
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? error.code : error
    throw new Error(`Cannot create a file in ${folder}, the value of LETHE_SPOOL_DIR (${reason}).`, {
      cause: error,
    })
  }
}

interface SpoolOptions {
  room: SpoolRoom
  /** The organisation that the response is for. */
  owner: string | null
  /** Whether this many more bytes may be kept in memory. */
  hasMemory(bytes: number): boolean
  /** Receives the change in the number of bytes in memory. */
  onMemory(bytes: number): void
  /** Disconnects the client. */
  onCutOff(): void
}

/**
 * A queue of data that was produced but not sent yet: a little in memory, the rest in the file. It is
 * encrypted with a key that only this process has, so that no readable data is ever on disk.
 */
export class Spool {
  readonly owner: string | null
  readonly #options: SpoolOptions
  #queue: (Buffer | Block)[] = []
  #memoryBytes = 0
  #ciphers: { cipher: Cipheriv; decipher: Decipheriv } | null = null
  #isCutOff = false
  #isEnded = false
  #wake: () => void = () => {}

  constructor(options: SpoolOptions) {
    this.#options = options
    this.owner = options.owner
  }

  get isCutOff(): boolean {
    return this.#isCutOff
  }

  cutOff(): void {
    this.#isCutOff = true
    this.#options.onCutOff()
  }

  /** Must not be called concurrently. */
  async add(bytes: Buffer): Promise<void> {
    for (let from = 0; from < bytes.length; from += blockBytes) {
      await this.#addBlock(bytes.subarray(from, from + blockBytes))
    }
  }

  async #addBlock(bytes: Buffer): Promise<void> {
    const isKept = this.#memoryBytes + bytes.length <= maxMemoryBytes && this.#options.hasMemory(bytes.length)
    if (isKept) {
      this.#count(bytes.length)
      this.#queue.push(bytes)
    } else {
      const { room } = this.#options
      this.#ciphers ??= createCiphers(room.randomness)
      this.#queue.push(await room.write(this, this.#ciphers.cipher.update(bytes)))
    }
    this.#wake()
  }

  /** No data will be added. */
  end(): void {
    this.#isEnded = true
    this.#wake()
  }

  /** Each piece counts as memory until the next one is requested. */
  async *pieces(): AsyncGenerator<Buffer> {
    for (;;) {
      const next = this.#queue.shift()
      if (next) {
        const piece = Buffer.isBuffer(next) ? next : await this.#load(next)
        yield piece
        this.#count(-piece.length)
      } else if (this.#isEnded) return
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  async #load(block: Block): Promise<Buffer> {
    this.#count(block.bytes)
    const hidden = await this.#options.room.read(this, block)
    return this.#ciphers?.decipher.update(hidden) ?? hidden
  }

  /** Call this when no more pieces will be requested. */
  async close(): Promise<void> {
    const positions = this.#queue.flatMap((each) => (Buffer.isBuffer(each) ? [] : [each.position]))
    this.#queue = []
    this.#count(-this.#memoryBytes)
    await this.#options.room.free(this, positions)
  }

  #count(bytes: number): void {
    this.#memoryBytes += bytes
    this.#options.onMemory(bytes)
  }
}

/** The key is used only once, so a constant counter is safe. Data is decrypted in the order of encryption. */
function createCiphers(randomness: Randomness): { cipher: Cipheriv; decipher: Decipheriv } {
  const key = hash('sha256', randomness.base62(64), 'buffer')
  const start = Buffer.alloc(16)
  return {
    cipher: createCipheriv('aes-256-ctr', key, start),
    decipher: createDecipheriv('aes-256-ctr', key, start),
  }
}
