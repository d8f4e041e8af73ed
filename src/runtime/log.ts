import { fstatSync, write, writeSync } from 'node:fs'
import { Socket } from 'node:net'
import { type Logger, pino } from 'pino'
import type { Config } from '../config.ts'

export interface Log {
  logger: Logger
  /** Takes complete lines of JSON in pino's format, for callers that format faster than pino. */
  write(lines: string): void
  /** How many lines could not be written. */
  droppedLines(): number
}

/** Writes JSON lines to standard output, or readable lines to a terminal unless `json` is set. */
export async function createLog(
  { logLevel }: Pick<Config, 'logLevel'>,
  { json = false }: { json?: boolean },
): Promise<Log> {
  const output = standardLogOutput((dropped, reason) =>
    logger.warn({ dropped, reason }, 'log lines were dropped; the log can be written again'),
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

/** Lines are collected for at most this long, so that requests do not wait for the disk. */
const flushEveryMs = 100
const flushLength = 64 * 1024
/** How much may wait for a slow reader or a full disk. Further lines are dropped. */
export const maxWaitingLength = 4 * 1024 * 1024
/** The first retry of a full pipe; the delay then doubles, up to `flushEveryMs`. */
const firstRetryMs = 5
/** How long the end of the process waits for a slow reader. */
const lastFlushMs = 1_000

const lineFeed = 0x0a

/** Writes some of the bytes, and reports how many. */
type WriteSome = (bytes: Buffer, done: (error: NodeJS.ErrnoException | null, written: number) => void) => void

/** Called with the number of dropped lines and the last reason when lines can be written again. */
type OnResumed = (droppedLines: number, reason: string) => void

/**
 * Writes lines in order, asynchronously. Never throws or blocks, and holds a bounded amount: lines that
 * cannot be written are dropped and counted.
 */
export class LogOutput {
  droppedLines = 0
  readonly #writeSome: WriteSome
  readonly #onResumed: OnResumed
  #waiting = ''
  /** The rest of the lines being written. */
  #unwritten: Buffer = Buffer.alloc(0)
  #isWriting = false
  /** Whether the last write failed; the next one then waits for the timer. */
  #isFailing = false
  #endsMidLine = false
  #unreportedLines = 0
  #reason = ''
  #retryMs = firstRetryMs
  #timer: NodeJS.Timeout | null = null

  constructor(writeSome: WriteSome, onResumed: OnResumed) {
    this.#writeSome = writeSome
    this.#onResumed = onResumed
  }

  /** Takes complete lines, each with its newline. */
  write(lines: string): void {
    if (this.#waiting.length + this.#unwritten.length + lines.length > maxWaitingLength) {
      this.#drop(countLines(Buffer.from(lines)), 'too many lines waited')
      return
    }
    this.#waiting += lines
    if (this.#waiting.length >= flushLength && !this.#isFailing) this.#flush()
    else this.#flushWithin(flushEveryMs)
  }

  /** Writes what it can before the process ends. `writeNow` writes some of the bytes or throws. */
  finish(writeNow: (bytes: Buffer) => number): void {
    const deadline = performance.now() + lastFlushMs
    // Bytes passed to another thread are written there, or never.
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

  /** The rest of the current lines, or all that wait. */
  #take(): Buffer {
    if (this.#unwritten.length > 0) return this.#unwritten
    if (this.#waiting === '') return this.#unwritten
    // A partial line, left by a full disk, must not merge with the next one.
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
    const dropped = this.#unreportedLines
    this.#unreportedLines = 0
    if (dropped > 0) this.#onResumed(dropped, this.#reason)
  }

  #onFailed(error: NodeJS.ErrnoException): void {
    this.#isFailing = true
    if (isBusy(error)) {
      this.#flushWithin(this.#retryMs)
      this.#retryMs = Math.min(2 * this.#retryMs, flushEveryMs)
      return
    }
    // A line that lacks only its newline is not lost; the next line starts with one.
    const lines = countLines(this.#unwritten) - (this.#unwritten[0] === lineFeed ? 1 : 0)
    this.#unwritten = Buffer.alloc(0)
    this.#drop(lines, error.code ?? error.message)
    if (this.#waiting !== '') this.#flushWithin(flushEveryMs)
  }

  #drop(lines: number, reason: string): void {
    this.#reason = reason
    this.droppedLines += lines
    this.#unreportedLines += lines
  }
}

const never = new Int32Array(new SharedArrayBuffer(4))

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EAGAIN' || error.code === 'EBUSY')
}

function countLines(bytes: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(lineFeed); at !== -1; at = bytes.indexOf(lineFeed, at + 1)) count += 1
  return count
}

/** Writes to standard output, and flushes when the process exits. */
function standardLogOutput(onResumed: OnResumed): LogOutput {
  const fd = process.stdout.fd
  const writeNow = (bytes: Buffer) => writeSync(fd, bytes)
  const output = new LogOutput(isNonBlocking(fd) ? immediately(writeNow) : inThread(fd), onResumed)
  process.once('exit', () => output.finish(writeNow))
  return output
}

/** For descriptors that never block. */
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
 * Makes a pipe or a socket non-blocking. A thread that waits for a reader cannot be stopped, and would keep
 * the process alive. Node restores pipes when the process ends.
 */
function isNonBlocking(fd: number): boolean {
  if (process.platform === 'win32') return false
  const kind = fstatSync(fd)
  if (!kind.isFIFO() && !kind.isSocket()) return false
  new Socket({ fd, readable: false, writable: true })
  return true
}
