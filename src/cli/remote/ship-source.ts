import type { Readable } from 'node:stream'
import {
  advance,
  type FilePosition,
  type Frontier,
  locate,
  newestFrontier,
  OpenFile,
  oldestRotatedBeyond,
  startPosition,
} from './ship-file.ts'
import type { LineStart } from './ship-lines.ts'

/** What a source has next. */
type Piece =
  | { type: 'bytes'; bytes: Buffer }
  /** Nothing now. `isComplete` if there is nothing more until somebody writes. */
  | { type: 'idle'; isComplete: boolean }
  /** The end of a file or of the input. `isLineOver` unless the next one continues the last line. */
  | { type: 'end'; isLineOver: boolean }

/** Bytes that arrive over time. */
export interface ShipSource {
  /** What people call it. */
  readonly name: string
  /** Where it starts. */
  readonly start: LineStart
  /** Whether what was not sent can be read again later. */
  readonly isRereadable: boolean
  read(): Promise<Piece>
  /** Goes on after an end. Returns where the next file starts, or `null` if there is nothing more. */
  next(lines: number): Promise<LineStart | null>
  /** A place that was read, for the state file; `null` if one cannot return to it. */
  position(at: LineStart): FilePosition | null
  close(): Promise<void>
}

interface FollowOptions {
  /** A rotated file is over when nothing was written to it for this long. */
  quietMs: number
  now(): number
  /** Receives what people should know. */
  tell(message: string): void
}

/** Follows a file across rotations, by renaming and by copying and truncating, like `tail -F`. */
export class FollowedFile implements ShipSource {
  readonly isRereadable = true
  readonly name: string
  readonly start: LineStart
  readonly #options: FollowOptions
  #file: OpenFile | null
  /** The copy of a truncated file, with what was not read before. */
  #copy: OpenFile | null = null
  /** When the rotated file was found to be at its end. */
  #quietSince: number | null = null
  /** What was sent before this file: rotated files beyond it come before the next. */
  #frontier: Frontier
  /** Whether such a file has to come before the current one. */
  #isOvertaken = false
  #lastProblem = ''

  private constructor(name: string, file: OpenFile | null, start: FilePosition, options: FollowOptions) {
    this.name = name
    this.start = start
    this.#frontier = start.frontier
    this.#file = file
    this.#options = options
  }

  /** Continues at the position, if there is one. Throws if the file cannot be read. */
  static async open(
    path: string,
    position: FilePosition | null,
    options: FollowOptions,
  ): Promise<FollowedFile> {
    const found = position && position.offset > 0 ? await locate(path, position) : null
    if (position !== null && found !== null) return new FollowedFile(path, found, position, options)
    if (position !== null && position.offset > 0)
      options.tell(
        `The file that was sent up to line ${position.lines} is gone. If it had more lines, they were not sent.`,
      )
    const frontier = position?.frontier ?? (await newestFrontier(path))
    const rotated = await oldestRotatedBeyond(path, frontier)
    const file = rotated ?? (await OpenFile.open(path).catch((error) => cannotRead(path, error)))
    return new FollowedFile(path, file, startPosition(frontier), options)
  }

  async read(): Promise<Piece> {
    const file = this.#file
    if (file === null) return this.#awaitFile()
    const { isUnread } = file
    const bytes = await file.read()
    if (bytes === null) return this.#afterTruncation(file)
    this.#isOvertaken = isUnread && (await this.#hasOlder(file))
    if (this.#isOvertaken) return { type: 'end', isLineOver: true }
    if (bytes.length > 0) {
      this.#quietSince = null
      return { type: 'bytes', bytes }
    }
    // While the path leads nowhere, a rotation is under way or the program that writes has not started.
    if ((await file.isAt(this.name)) !== false) return { type: 'idle', isComplete: true }
    this.#quietSince ??= this.#options.now()
    if (this.#options.now() - this.#quietSince < this.#options.quietMs)
      return { type: 'idle', isComplete: false }
    return { type: 'end', isLineOver: true }
  }

  async next(lines: number): Promise<LineStart> {
    const file = this.#file
    const copy = this.#copy
    this.#copy = null
    this.#quietSince = null
    if (file !== null && !this.#isOvertaken) this.#frontier = advance(this.#frontier, file)
    this.#isOvertaken = false
    this.#file = copy ?? (await this.#successor())
    await file?.close()
    if (copy !== null) return { offset: copy.lineStart, lines }
    return { offset: 0, lines: 0 }
  }

  position(at: LineStart): FilePosition | null {
    // Nothing identifies a file of which nothing was sent but that it comes after another.
    return at.offset === 0 ? startPosition(this.#frontier) : (this.#file?.position(at) ?? null)
  }

  async close(): Promise<void> {
    await this.#file?.close()
    await this.#copy?.close()
  }

  /** Waits for the file to appear, or to become readable. */
  async #awaitFile(): Promise<Piece> {
    this.#file = await this.#successor()
    if (this.#file !== null) return this.read()
    return { type: 'idle', isComplete: true }
  }

  async #afterTruncation(file: OpenFile): Promise<Piece> {
    this.#copy = await file.findCopy(this.name)
    if (this.#copy === null) this.#options.tell(`${this.name} was truncated. Reading it from its beginning.`)
    return { type: 'end', isLineOver: this.#copy === null }
  }

  /** Whether a rotation that was not noticed has left lines that come before those of the file. */
  async #hasOlder(file: OpenFile): Promise<boolean> {
    const rotated = await oldestRotatedBeyond(this.name, this.#frontier)
    await rotated?.close()
    return rotated !== null && rotated.id !== file.id
  }

  /** The file that was written after the last one. */
  async #successor(): Promise<OpenFile | null> {
    return (await oldestRotatedBeyond(this.name, this.#frontier)) ?? this.#tryOpen()
  }

  async #tryOpen(): Promise<OpenFile | null> {
    try {
      return await OpenFile.open(this.name).catch((error) => cannotRead(this.name, error))
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error)
      if (problem !== this.#lastProblem) this.#options.tell(problem)
      this.#lastProblem = problem
      return null
    }
  }
}

function cannotRead(path: string, error: unknown): never {
  throw new Error(`Cannot read ${path}: ${error instanceof Error ? error.message : error}.`, { cause: error })
}

/** Standard input, or another stream that is read once. */
export class StreamSource implements ShipSource {
  readonly isRereadable = false
  readonly name = 'standard input'
  readonly start: LineStart = { offset: 0, lines: 0 }
  readonly #stream: Readable
  readonly #chunks: AsyncIterator<Buffer>
  readonly #wait: (signal: AbortSignal) => Promise<void>
  #pending: Promise<Piece> | null = null

  /** `wait` limits how long a read waits for bytes. */
  constructor(stream: Readable, wait: (signal: AbortSignal) => Promise<void>) {
    this.#stream = stream
    this.#chunks = stream[Symbol.asyncIterator]()
    this.#wait = wait
  }

  async read(): Promise<Piece> {
    this.#pending ??= this.#chunks
      .next()
      .then(({ done, value }) => (done ? { type: 'end', isLineOver: true } : { type: 'bytes', bytes: value }))
    const over = new AbortController()
    const idle = this.#wait(over.signal).then((): Piece => ({ type: 'idle', isComplete: false }))
    const piece = await Promise.race([this.#pending, idle])
    over.abort()
    if (piece.type !== 'idle') this.#pending = null
    return piece
  }

  async next(): Promise<null> {
    return null
  }

  position(): null {
    return null
  }

  async close(): Promise<void> {
    this.#pending?.catch(() => {})
    this.#stream.destroy()
  }
}
