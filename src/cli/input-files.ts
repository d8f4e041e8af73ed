import { createReadStream, fstatSync } from 'node:fs'
import { access, constants, stat } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { decompress, readFailure } from '../domain/split-lines.ts'
import { UsageError } from './terminal.ts'

const chunkBytes = 256 * 1024

/** The files that a command reads one after the other, `-` for standard input. */
export class InputFiles {
  readonly files: readonly string[]
  /** The total size of the files on disk; `null` if one has no size, such as a pipe. */
  readonly totalBytes: number | null
  bytesRead = 0
  #reading: Readable | null = null
  #isStopped = false

  constructor(files: readonly string[], totalBytes: number | null) {
    this.files = files
    this.totalBytes = totalBytes
  }

  get isStopped(): boolean {
    return this.#isStopped
  }

  /** Ends reading after the chunk that was read last. */
  stop(): void {
    this.#isStopped = true
    this.#reading?.destroy()
  }

  /** The decompressed content of a file. */
  read(file: string): AsyncGenerator<Buffer> {
    return decompress(this.#chunks(file))
  }

  async *#chunks(file: string): AsyncGenerator<Buffer> {
    const stream = isStandardInput(file)
      ? process.stdin
      : createReadStream(file, { highWaterMark: chunkBytes })
    this.#reading = stream
    try {
      if (this.#isStopped) throw new Error('stopped')
      for await (const chunk of stream) {
        this.bytesRead += chunk.length
        yield chunk
      }
    } finally {
      stream.destroy()
    }
  }
}

/** Checks every file before the first is read, so that a mistyped name is reported immediately. */
export async function totalBytesOf(files: readonly string[]): Promise<number | null> {
  if (files.filter(isStandardInput).length > 1) throw new UsageError('Standard input can be read only once.')
  let total: number | null = 0
  for (const file of files) {
    const bytes = await sizeOf(file)
    total = total === null || bytes === null ? null : total + bytes
  }
  return total
}

export function sourceName(file: string): string {
  return isStandardInput(file) ? 'standard input' : file
}

export function cannotRead(file: string, error: unknown): Error {
  return new Error(`Cannot read ${sourceName(file)}: ${readFailure(error)}.`, { cause: error })
}

function isStandardInput(file: string): boolean {
  return file === '-'
}

/** Node would read a folder as standard input as if it were empty. */
function refuseFolderAsInput(): void {
  if (fstatSync(0).isDirectory()) throw cannotRead('-', new Error('it is a folder'))
}

async function sizeOf(file: string): Promise<number | null> {
  if (isStandardInput(file)) {
    refuseFolderAsInput()
    return null
  }
  try {
    await access(file, constants.R_OK)
    const found = await stat(file)
    if (found.isDirectory()) throw new Error('it is a folder')
    return found.isFile() ? found.size : null
  } catch (error) {
    throw cannotRead(file, error)
  }
}
