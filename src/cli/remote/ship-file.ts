import { hash } from 'node:crypto'
import type { BigIntStats } from 'node:fs'
import { type FileHandle, open, readdir, stat } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import type { LineStart } from './ship-lines.ts'
import { nullIfMissing } from './whole-file.ts'

/** So many bytes at the beginning of a file identify it. */
const maxHeadBytes = 4_096
const chunkBytes = 256 * 1024
const lineFeed = 0x0a

/** Files that were sent: those that changed before a time, and the given ones of those that changed then. */
export interface Frontier {
  modifiedMs: number
  /** The clock of a file system ticks so slowly that files can change at the same time. */
  files: readonly string[]
}

/** A place in a file, such that the file is recognised once renamed, copied, truncated or replaced. */
export interface FilePosition extends LineStart {
  /** The device and the inode; empty before the first line of a file. */
  file: string
  /** Rotated files beyond it come after this one, or before the first line of a file. */
  frontier: Frontier
  /** The digest of the first bytes. */
  head: { bytes: number; sha256: string }
}

/** A file that is read while others write to it, rename it or truncate it. */
export class OpenFile {
  readonly path: string
  readonly #handle: FileHandle
  readonly #id: string
  readonly #buffer = Buffer.allocUnsafe(chunkBytes)
  #head: Buffer = Buffer.alloc(0)
  #readTo = 0
  #modifiedMs = 0
  #lineStart = 0

  private constructor(path: string, handle: FileHandle, id: string) {
    this.path = path
    this.#handle = handle
    this.#id = id
  }

  /** `null` if there is no such file. */
  static async open(path: string): Promise<OpenFile | null> {
    // Opening a pipe would wait for its writer.
    if ((await stat(path).catch(nullIfMissing))?.isFile() === false) throw new Error('it is not a file')
    const handle = await open(path, 'r').catch(nullIfMissing)
    if (handle === null) return null
    return new OpenFile(path, handle, identify(await handle.stat({ bigint: true })).id)
  }

  get id(): string {
    return this.#id
  }

  /** When it was last seen to change. */
  get modifiedMs(): number {
    return this.#modifiedMs
  }

  /** Whether nothing was read yet. */
  get isUnread(): boolean {
    return this.#readTo === 0
  }

  /** Where the line starts that was not completely read yet. */
  get lineStart(): number {
    return this.#lineStart
  }

  /** Whether the path still leads to this file; `null` if it leads nowhere. */
  async isAt(path: string): Promise<boolean | null> {
    const stats = await stat(path, { bigint: true }).catch(nullIfMissing)
    return stats && identify(stats).id === this.#id
  }

  /** Continues at a position if the file has the content before it. Returns whether it does. */
  async resume({ offset, head }: FilePosition): Promise<boolean> {
    const { size, modifiedMs } = identify(await this.#handle.stat({ bigint: true }))
    if (size < offset) return false
    const first = await this.#readHead(Math.min(offset, maxHeadBytes))
    if (first.length < head.bytes || sha256(first.subarray(0, head.bytes)) !== head.sha256) return false
    this.#head = first
    this.#readTo = offset
    this.#lineStart = offset
    this.#modifiedMs = modifiedMs
    return true
  }

  /**
   * Finds the copy that a rotation made of this file before it truncated it, and continues there with the
   * line that was not completely read. `null` if there is none.
   */
  async findCopy(path: string): Promise<OpenFile | null> {
    const copy = await locate(path, this.position({ offset: this.#readTo, lines: 0 }))
    if (copy !== null) copy.#rewind(this.#lineStart)
    return copy
  }

  /** The next bytes, none at the end. `null` if what was read before is no longer there. */
  async read(): Promise<Buffer | null> {
    const { bytesRead } = await this.#handle.read(this.#buffer, 0, chunkBytes, this.#readTo)
    // Afterwards: once a file was truncated, this is seen whenever one looks.
    const { size, modifiedMs } = identify(await this.#handle.stat({ bigint: true }))
    if (size < this.#readTo || !(await this.#readHead(this.#head.length)).equals(this.#head)) return null
    this.#modifiedMs = modifiedMs
    // A copy, because the rest of a line is kept until its end comes.
    const bytes = Buffer.from(this.#buffer.subarray(0, bytesRead))
    if (this.#head.length < maxHeadBytes)
      this.#head = Buffer.concat([this.#head, bytes.subarray(0, maxHeadBytes - this.#head.length)])
    const lastLineFeed = bytes.lastIndexOf(lineFeed)
    if (lastLineFeed >= 0) this.#lineStart = this.#readTo + lastLineFeed + 1
    this.#readTo += bytesRead
    return bytes
  }

  /** A place that was read before. */
  position({ offset, lines }: LineStart): FilePosition {
    const first = this.#head.subarray(0, offset)
    const head = { bytes: first.length, sha256: sha256(first) }
    const frontier = { modifiedMs: this.#modifiedMs, files: [this.#id] }
    return { file: this.#id, offset, lines, frontier, head }
  }

  close(): Promise<void> {
    return this.#handle.close()
  }

  #rewind(offset: number): void {
    this.#readTo = offset
    this.#lineStart = offset
    this.#head = this.#head.subarray(0, offset)
  }

  async #readHead(bytes: number): Promise<Buffer> {
    const buffer = Buffer.alloc(bytes)
    const { bytesRead } = await this.#handle.read(buffer, 0, bytes, 0)
    return buffer.subarray(0, bytesRead)
  }
}

/**
 * Finds the file of a position: at the path, or where a rotation has put it, and continues there. The file is
 * recognised by its inode and its first bytes, a copy by its first bytes. `null` if it is gone.
 */
export async function locate(path: string, position: FilePosition): Promise<OpenFile | null> {
  const paths = [path, ...(await siblings(path))]
  for (const isSameFile of [true, false]) {
    // Nothing identifies a copy of nothing.
    if (!isSameFile && position.head.bytes === 0) break
    for (const each of paths) {
      const file = await openIfReadable(each)
      if (file === null) continue
      if ((file.id === position.file) === isSameFile && (await file.resume(position))) return file
      await file.close()
    }
  }
  return null
}

/** The place after the files of a frontier. */
export function startPosition(frontier: Frontier): FilePosition {
  const head = { bytes: 0, sha256: sha256(Buffer.alloc(0)) }
  return { file: '', offset: 0, lines: 0, frontier, head }
}

/** The oldest of the rotated files beyond a frontier; `null` if there is none. */
export async function oldestRotatedBeyond(path: string, frontier: Frontier): Promise<OpenFile | null> {
  for (const each of await rotatedFiles(path)) {
    const isBeyond =
      each.modifiedMs > frontier.modifiedMs ||
      (each.modifiedMs === frontier.modifiedMs && !frontier.files.includes(each.id))
    const file = isBeyond ? await openIfReadable(each.path) : null
    if (file !== null) return file
  }
  return null
}

/** The frontier before which all rotated files lie. */
export async function newestFrontier(path: string): Promise<Frontier> {
  const files = await rotatedFiles(path)
  const modifiedMs = files.at(-1)?.modifiedMs ?? 0
  return { modifiedMs, files: files.filter((each) => each.modifiedMs === modifiedMs).map(({ id }) => id) }
}

/** Moves a frontier beyond a file that was sent. */
export function advance(frontier: Frontier, { id, modifiedMs }: OpenFile): Frontier {
  if (modifiedMs < frontier.modifiedMs) return frontier
  const files = modifiedMs === frontier.modifiedMs ? frontier.files : []
  return { modifiedMs, files: [...files, id] }
}

interface RotatedFile {
  path: string
  id: string
  modifiedMs: number
}

/** Oldest first. */
async function rotatedFiles(path: string): Promise<RotatedFile[]> {
  const isRotated = rotatedNames(path)
  const files: RotatedFile[] = []
  for (const each of await siblings(path)) {
    if (!isRotated.test(basename(each))) continue
    const stats = await stat(each, { bigint: true }).catch(() => null)
    if (stats?.isFile()) files.push({ path: each, ...identify(stats) })
  }
  return files.sort((a, b) => a.modifiedMs - b.modifiedMs)
}

function identify({ dev, ino, size, mtimeNs }: BigIntStats) {
  return { id: `${dev}:${ino}`, size: Number(size), modifiedMs: Number(mtimeNs) / 1e6 }
}

/** The other files in the folder whose names begin with the name of the file, without its extension. */
async function siblings(path: string): Promise<string[]> {
  const [folder, own] = [dirname(path), basename(path)]
  const names = await readdir(folder).catch(() => [])
  const start = own.slice(0, own.length - extname(own).length)
  return names.filter((name) => name !== own && name.startsWith(start)).map((name) => join(folder, name))
}

/** Names such as `app.log.1`, `app.log-20261118` and `app-2026-11-18.log`, which are not compressed. */
function rotatedNames(path: string): RegExp {
  const own = basename(path)
  const extension = extname(own)
  const start = literally(own.slice(0, own.length - extension.length))
  const end = literally(extension)
  const number = '[\\-._]\\d[\\-._:\\dTZ]*'
  return new RegExp(`^${start}(?:${end}${number}|${number}${end})$`, 'u')
}

function literally(text: string): string {
  return text.replaceAll(/[^\w]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
}

/** Others may own files in the same folder, or rename them meanwhile. */
function openIfReadable(path: string): Promise<OpenFile | null> {
  return OpenFile.open(path).catch(() => null)
}

function sha256(bytes: Buffer): string {
  return hash('sha256', bytes, 'base64')
}
