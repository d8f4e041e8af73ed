import { createReadStream } from 'node:fs'
import { access, constants, stat } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import type { LineBlock } from '../../operations/import/import-lines.ts'
import { decompress, readFailure } from '../decompress.ts'
import { defaultMaxLineBytes, splitLines } from '../split-lines.ts'
import { UsageError } from '../usage-error.ts'

/** How much is read at a time. */
const chunkBytes = 256 * 1024

/** The files of an import, `-` for standard input, as one sequence of blocks of lines. */
export class ImportInput {
  /** The size of all files together, as they are on disk; `null` where one has no size, such as a pipe. */
  readonly totalBytes: number | null
  bytesRead = 0
  /** Why the sequence ended before the files did. */
  failure: Error | null = null
  readonly #files: readonly string[]
  readonly #maxLineBytes: number
  #reading: Readable | null = null
  #isStopped = false
  #isOver = false

  constructor(files: readonly string[], totalBytes: number | null, maxLineBytes?: number) {
    this.#files = files
    this.#maxLineBytes = maxLineBytes ?? defaultMaxLineBytes
    this.totalBytes = totalBytes
  }

  /** Looks at every file before the first is read, so that a mistyped name costs nothing. */
  static async open(files: readonly string[], maxLineBytes?: number): Promise<ImportInput> {
    if (files.filter(isStandardInput).length > 1)
      throw new UsageError('Standard input can be read only once.')
    let total: number | null = 0
    for (const file of files) {
      const bytes = isStandardInput(file) ? null : await sizeOf(file)
      total = total === null || bytes === null ? null : total + bytes
    }
    return new ImportInput(files, total, maxLineBytes)
  }

  /** Whether `stop` came before the end. */
  get wasCutShort(): boolean {
    return this.#isStopped && !this.#isOver
  }

  /** Ends the sequence with the block that was read last. */
  stop(): void {
    this.#isStopped = true
    this.#reading?.destroy()
  }

  /** Ends with a `failure` instead of throwing one: what was read before is as good as ever. */
  async *blocks(): AsyncGenerator<LineBlock> {
    for (const file of this.#files) {
      let number = 1
      try {
        for await (const lines of splitLines(decompress(this.#read(file)), this.#maxLineBytes)) {
          yield { source: sourceName(file), firstNumber: number, lines }
          number += lines.length
        }
      } catch (error) {
        if (!this.#isStopped) this.failure = cannotRead(file, error)
        return
      }
    }
    this.#isOver = true
  }

  async *#read(file: string): AsyncGenerator<Buffer> {
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

function isStandardInput(file: string): boolean {
  return file === '-'
}

function sourceName(file: string): string {
  return isStandardInput(file) ? 'standard input' : file
}

async function sizeOf(file: string): Promise<number | null> {
  try {
    await access(file, constants.R_OK)
    const found = await stat(file)
    if (found.isDirectory()) throw new Error('it is a folder')
    return found.isFile() ? found.size : null
  } catch (error) {
    throw cannotRead(file, error)
  }
}

function cannotRead(file: string, error: unknown): Error {
  return new Error(`Cannot read ${sourceName(file)}: ${readFailure(error)}.`, { cause: error })
}
