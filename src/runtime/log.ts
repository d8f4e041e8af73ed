import { fstatSync, write, writeSync } from 'node:fs'
import { Socket } from 'node:net'
import { type Logger, pino } from 'pino'
import type { Config } from '../config.ts'

/** Where the service says what it does. */
export interface Log {
  logger: Logger
  /** Takes whole lines of JSON as pino writes them, for whoever makes them quicker by hand. */
  write(lines: string): void
  /** How many lines were dropped because they could not be written. */
  droppedLines(): number
}

/** JSON lines on standard output, or lines for people where that is a terminal and nobody asked for JSON. */
export async function createLog(
  { logLevel }: Pick<Config, 'logLevel'>,
  { json = false }: { json?: boolean },
): Promise<Log> {
  const output = standardLogOutput((dropped, reason) =>
    logger.warn({ dropped, reason }, 'lines of this log were dropped; it can be written again'),
  )
  const forPeople = !json && process.stdout.isTTY ? await prettyLines() : null
  const write = (lines: string) => output.write(forPeople?.(lines) ?? lines)
  const logger = pino({ level: logLevel, base: null }, { write })
  return { logger, write, droppedLines: () => output.droppedLines }
}

async function prettyLines(): Promise<(lines: string) => string> {
  const { prettyFactory } = await import('pino-pretty')
  const prettify = prettyFactory({ singleLine: true, translateTime: 'SYS:HH:MM:ss' })
  return (lines) => {
    const each = lines.trimEnd().split('\n')
    return each.map((line) => prettify(line)).join('')
  }
}

/** Lines wait for each other, so that a request does not wait for the disk; at most this long. */
const flushEveryMs = 100
const flushLength = 64 * 1024
/** What may wait for a reader, or for room on a disk. Lines beyond it are dropped. */
export const maxWaitingLength = 4 * 1024 * 1024
/** How soon a pipe that took nothing is tried again; each time twice as long, up to the usual pace. */
const firstRetryMs = 5
/** How long the end of the process waits for whoever reads slowly. */
const lastFlushMs = 1_000

const lineFeed = 0x0a

/** Writes some of the bytes and tells how many, or why none. */
type WriteSome = (bytes: Buffer, done: (error: NodeJS.ErrnoException | null, written: number) => void) => void

/** Told how many lines were dropped, and why the last of them were, once lines can be written again. */
type OnResumed = (droppedLines: number, reason: string) => void

/**
 * Writes lines in their order, later. It never throws, blocks nobody and holds a bounded amount: what cannot be written, because a disk
 * is full or nobody reads, is dropped and counted.
 */
export class LogOutput {
  /** How many lines were dropped, ever. */
  droppedLines = 0
  readonly #writeSome: WriteSome
  readonly #onResumed: OnResumed
  #waiting = ''
  /** What is left of the lines that are being written. */
  #unwritten: Buffer = Buffer.alloc(0)
  #isWriting = false
  /** Whether the last attempt failed. The next one then has to wait for the timer. */
  #isFailing = false
  #endsMidLine = false
  #untoldLines = 0
  #reason = ''
  #retryMs = firstRetryMs
  #timer: NodeJS.Timeout | null = null

  constructor(writeSome: WriteSome, onResumed: OnResumed) {
    this.#writeSome = writeSome
    this.#onResumed = onResumed
  }

  /** Takes whole lines, each with its end. */
  write(lines: string): void {
    if (this.#waiting.length + this.#unwritten.length + lines.length > maxWaitingLength) {
      this.#drop(countLines(Buffer.from(lines)), 'too many lines waited')
      return
    }
    this.#waiting += lines
    if (this.#waiting.length >= flushLength && !this.#isFailing) this.#flush()
    else this.#flushWithin(flushEveryMs)
  }

  /** Writes what can be written before the process ends, through `writeNow`, which writes some of the bytes or throws. */
  finish(writeNow: (bytes: Buffer) => number): void {
    const deadline = performance.now() + lastFlushMs
    // What another thread is about to write is written, or hangs there.
    let bytes = this.#isWriting ? Buffer.from(this.#waiting) : this.#take()
    while (bytes.length > 0) {
      try {
        bytes = bytes.subarray(writeNow(bytes))
      } catch (error) {
        if (!isBusy(error) || performance.now() > deadline) return
        Atomics.wait(never, 0, 0, firstRetryMs)
      }
    }
  }

  #flushWithin(ms: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null
      this.#flush()
    }, ms).unref()
  }

  #flush(): void {
    if (this.#isWriting) return
    this.#unwritten = this.#take()
    if (this.#unwritten.length === 0) return
    this.#isWriting = true
    this.#writeSome(this.#unwritten, (error, written) => {
      this.#isWriting = false
      if (error) this.#onFailed(error)
      else this.#onWritten(written)
    })
  }

  /** What is to be written next: the rest of what was begun, or else all that waits. */
  #take(): Buffer {
    if (this.#unwritten.length > 0) return this.#unwritten
    if (this.#waiting === '') return this.#unwritten
    // Half a line that stands at the end, because the disk was full, must not become part of the next one.
    const bytes = Buffer.from(this.#endsMidLine ? `\n${this.#waiting}` : this.#waiting)
    this.#waiting = ''
    return bytes
  }

  #onWritten(written: number): void {
    this.#isFailing = false
    this.#retryMs = firstRetryMs
    this.#endsMidLine = this.#unwritten[written - 1] !== lineFeed
    this.#unwritten = this.#unwritten.subarray(written)
    if (this.#unwritten.length > 0 || this.#waiting.length >= flushLength) {
      this.#flush()
      return
    }
    if (this.#waiting !== '') this.#flushWithin(flushEveryMs)
    const dropped = this.#untoldLines
    this.#untoldLines = 0
    if (dropped > 0) this.#onResumed(dropped, this.#reason)
  }

  #onFailed(error: NodeJS.ErrnoException): void {
    this.#isFailing = true
    if (isBusy(error)) {
      this.#flushWithin(this.#retryMs)
      this.#retryMs = Math.min(2 * this.#retryMs, flushEveryMs)
      return
    }
    // A line whose text was written already lacks only its end, which the next line brings.
    const lines = countLines(this.#unwritten) - (this.#unwritten[0] === lineFeed ? 1 : 0)
    this.#unwritten = Buffer.alloc(0)
    this.#drop(lines, error.code ?? error.message)
    if (this.#waiting !== '') this.#flushWithin(flushEveryMs)
  }

  #drop(lines: number, reason: string): void {
    this.#reason = reason
    this.droppedLines += lines
    this.#untoldLines += lines
  }
}

const never = new Int32Array(new SharedArrayBuffer(4))

/** Whether it is only that nothing can be taken now. */
function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EAGAIN' || error.code === 'EBUSY')
}

function countLines(bytes: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(lineFeed); at !== -1; at = bytes.indexOf(lineFeed, at + 1)) count += 1
  return count
}

/** The lines that go to standard output. What waits when the process ends is written then. */
function standardLogOutput(onResumed: OnResumed): LogOutput {
  const fd = process.stdout.fd
  const writeNow = (bytes: Buffer) => writeSync(fd, bytes)
  const output = new LogOutput(isNonBlocking(fd) ? immediately(writeNow) : inThread(fd), onResumed)
  process.once('exit', () => output.finish(writeNow))
  return output
}

/** For what takes bytes or refuses them, and never lets anybody wait. */
function immediately(writeNow: (bytes: Buffer) => number): WriteSome {
  return (bytes, done) => {
    let written: number
    try {
      written = writeNow(bytes)
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)), 0)
      return
    }
    done(null, written)
  }
}

/** For files, whose disk may be slow. */
function inThread(fd: number): WriteSome {
  return (bytes, done) => write(fd, bytes, done)
}

/**
 * Makes a pipe or a socket refuse what it has no room for. A thread that waits for its reader could not be ended, nor the process with
 * it. Node gives pipes back as they were when the process ends.
 */
function isNonBlocking(fd: number): boolean {
  if (process.platform === 'win32') return false
  const kind = fstatSync(fd)
  if (!kind.isFIFO() && !kind.isSocket()) return false
  new Socket({ fd, readable: false, writable: true })
  return true
}
