import { type Cipheriv, createCipheriv, createDecipheriv, type Decipheriv, hash } from 'node:crypto'
import { type FileHandle, open, statfs, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Randomness } from '../domain/randomness.ts'

/** How much of one answer is kept in memory, where there is memory for it. */
const maxMemoryBytes = 2 * 1024 * 1024
/** How much is written to the file, read from it and sent at a time. */
const blockBytes = 64 * 1024
/** How much the file may hold, where half of what is free on its disk leaves as much. */
const maxFileBytes = 4 * 1024 ** 3
/** After how many blocks the disk is looked at again. */
const blocksBetweenLooks = 256

/** A part of the file. */
interface Block {
  place: number
  bytes: number
}

interface RoomOptions {
  /** Where the file is made; `null` for the system's folder for temporary files. */
  folder: string | null
  randomness: Randomness
  maxBytes?: number
}

/**
 * The file that all spools share, so that they take one handle no matter how many they are. It has no name, and is there only while
 * something lies in it.
 */
export class SpoolRoom {
  readonly randomness: Randomness
  readonly #folder: string
  readonly #mostBytes: number
  #maxBytes = 0
  #file: Promise<FileHandle> | null = null
  #size = 0
  #free: number[] = []
  /** How many blocks each spool has, but for those that were cut off. */
  readonly #blocks = new Map<Spool, number>()
  #total = 0
  #used = 0

  constructor({ folder, randomness, maxBytes = maxFileBytes }: RoomOptions) {
    this.randomness = randomness
    this.#folder = folder ?? tmpdir()
    this.#mostBytes = maxBytes
  }

  /** Writes no more than a block. While there is no room for it, somebody is cut off: of the owner who has most, the one with most. */
  async write(spool: Spool, bytes: Buffer): Promise<Block> {
    const place = this.#free.pop() ?? this.#size++
    this.#used += 1
    this.#file ??= this.#create()
    try {
      const file = await this.#file
      if (this.#maxBytes === 0 || this.#size % blocksBetweenLooks === 0) await this.#look()
      this.#count(spool, 1)
      while (this.#total * blockBytes > this.#maxBytes) this.#cutOff()
      for (let from = 0; from < bytes.length; ) {
        const at = place * blockBytes + from
        from += (await file.write(bytes, from, bytes.length - from, at)).bytesWritten
      }
      return { place, bytes: bytes.length }
    } catch (error) {
      await this.#release(place)
      throw error
    }
  }

  async read(spool: Spool, { place, bytes }: Block): Promise<Buffer> {
    const file = await this.#file
    const piece = Buffer.alloc(bytes)
    for (let from = 0; from < bytes; ) {
      const { bytesRead = 0 } = (await file?.read(piece, from, bytes - from, place * blockBytes + from)) ?? {}
      if (bytesRead === 0) throw new Error('A spool ends before its end.')
      from += bytesRead
    }
    await this.free(spool, [place])
    return piece
  }

  async free(spool: Spool, places: readonly number[]): Promise<void> {
    this.#count(spool, -places.length)
    for (const place of places) await this.#release(place)
  }

  async #release(place: number): Promise<void> {
    this.#free.push(place)
    this.#used -= 1
    const made = this.#file
    if (this.#used > 0) return
    const file = await made?.catch(() => null)
    // Somebody may have come meanwhile, or have closed it.
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

  async #look(): Promise<void> {
    const { bavail, bsize } = await statfs(this.#folder)
    this.#maxBytes = Math.min(this.#mostBytes, (this.#total * blockBytes + bavail * bsize) / 2)
  }
}

async function createUnnamed(folder: string, randomness: Randomness): Promise<FileHandle> {
  const path = join(folder, `lethe-spool-${randomness.uuid()}`)
  const file = await open(path, 'wx+', 0o600)
  await unlink(path)
  return file
}

/** Throws, with a line for whoever starts the service, when no file can be made in a folder. */
export async function requireSpoolFolder(folder: string, randomness: Randomness): Promise<void> {
  try {
    await (await createUnnamed(folder, randomness)).close()
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? error.code : error
    throw new Error(`LETHE_SPOOL_DIR is ${folder}, where no file can be made (${reason}).`, { cause: error })
  }
}

interface SpoolOptions {
  room: SpoolRoom
  /** Whose answer it is. */
  owner: string | null
  /** Whether so many bytes more may be kept in memory. */
  hasMemory(bytes: number): boolean
  /** Told how many bytes more or fewer there are in memory. */
  onMemory(bytes: number): void
  /** Has its client go. */
  onCutOff(): void
}

/**
 * What was made and not sent yet, in its order. Memory holds a little of it, the file the rest: encrypted with a key that nobody has but
 * this process, so that nothing readable of it is ever on a disk.
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

  /** One call at a time. */
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

  /** Nothing more will come. */
  end(): void {
    this.#isEnded = true
    this.#wake()
  }

  /** Each piece takes memory until the next one is asked for. */
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

  /** To be called when nobody asks for a piece any more. */
  async close(): Promise<void> {
    const places = this.#queue.flatMap((each) => (Buffer.isBuffer(each) ? [] : [each.place]))
    this.#queue = []
    this.#count(-this.#memoryBytes)
    await this.#options.room.free(this, places)
  }

  #count(bytes: number): void {
    this.#memoryBytes += bytes
    this.#options.onMemory(bytes)
  }
}

/** No other spool has this key. What is encrypted is decrypted once, in the same order. */
function createCiphers(randomness: Randomness): { cipher: Cipheriv; decipher: Decipheriv } {
  const key = hash('sha256', randomness.base62(64), 'buffer')
  const start = Buffer.alloc(16)
  return {
    cipher: createCipheriv('aes-256-ctr', key, start),
    decipher: createDecipheriv('aes-256-ctr', key, start),
  }
}
