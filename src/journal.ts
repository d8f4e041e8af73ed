import { constants, createReadStream } from 'node:fs'
import { type FileHandle, mkdir, open, stat, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { JournalFile, JournalReading, JournalReports, MissingLines } from './domain/journal.ts'
import {
  beginsAsJournalLine,
  formatJournalLine,
  isEntry,
  type JournalLine,
  parseJournalLine,
} from './domain/journal-line.ts'
import type { Randomness } from './domain/randomness.ts'

/**
 * A journal in a file that several processes of one machine may append to. Lines that arrive during a write
 * share the next one. Each write is a single append and starts with a newline, so that a torn line before it
 * damages nothing else.
 */
export class FileJournal implements JournalFile {
  readonly place: string
  #waiting: JournalLine[] = []
  #current: Promise<unknown> = Promise.resolve()
  #next: Promise<void> | null = null
  #hasFailed = false
  #reports: Pick<JournalReports, 'onFailed' | 'onRecovered'> = { onFailed() {}, onRecovered() {} }
  /** The file last read or written, or `null` if there was none. */
  #seen: SeenFile | null | undefined
  /** Whether the file was begun again and is not complete yet. */
  #isRestarted = false
  #missing: MissingLines = async function* () {}

  constructor(path: string) {
    this.place = path
  }

  append(lines: readonly JournalLine[]): Promise<void> {
    this.#waiting.push(...lines)
    return this.#write()
  }

  async recover(): Promise<void> {
    if (this.#hasFailed) await this.#write()
  }

  waitingLines(): number {
    return this.#hasFailed ? this.#waiting.length : 0
  }

  async *read(reading: JournalReading = {}): AsyncGenerator<JournalLine> {
    if (this.#seen === undefined) this.#seen = await stat(this.place, { bigint: true }).catch(() => null)
    yield* readJournal(this.place, { ...reading, mayBeMissing: true })
  }

  completeWith(missing: MissingLines): void {
    this.#missing = missing
  }

  watch(reports: Pick<JournalReports, 'onFailed' | 'onRecovered'>): void {
    this.#reports = reports
  }

  /** Includes everything that waits when the previous write ends. */
  #write(): Promise<void> {
    this.#next ??= this.#current.then(() => {
      this.#next = null
      const writing = this.#writeWaiting()
      this.#current = writing.catch(() => {})
      return writing
    })
    return this.#next
  }

  async #writeWaiting(): Promise<void> {
    const lines = this.#waiting
    this.#waiting = []
    try {
      if (lines.length > 0) await this.#appendAndSync(lines)
    } catch (cause) {
      this.#waiting = [...lines, ...this.#waiting]
      this.#hasFailed = true
      const reason = cause instanceof Error ? cause.message : String(cause)
      const error = new Error(`The change was made, but the journal cannot be written: ${reason}.`, {
        cause,
      })
      this.#reports.onFailed(error)
      throw error
    }
    if (!this.#hasFailed) return
    this.#hasFailed = false
    this.#reports.onRecovered()
  }

  /**
   * Opens the file for each write, so that lines never go to one that was moved. One that was moved, replaced or
   * cut gets everything else first.
   */
  async #appendAndSync(lines: readonly JournalLine[]): Promise<void> {
    const file = await openForAppending(this.place)
    try {
      const found: SeenFile = await file.stat({ bigint: true })
      if (this.#seen === undefined && found.size > 0n) await requireJournal(this.place)
      this.#isRestarted ||= this.#seen ? !continues(this.#seen, found) : false
      const seen = { dev: found.dev, ino: found.ino, size: found.size }
      this.#seen = seen
      const write = async (some: readonly JournalLine[]) => {
        seen.size += BigInt(await writeAndSync(this.place, file, some))
      }
      if (this.#isRestarted) for await (const missing of this.#missing(lines)) await write(missing)
      this.#isRestarted = false
      await write(lines)
    } finally {
      await file.close()
    }
  }
}

interface SeenFile {
  dev: bigint
  ino: bigint
  size: bigint
}

/** Whether a file is the one that was seen before, to which lines were at most added. */
function continues(before: SeenFile, { dev, ino, size }: SeenFile): boolean {
  return dev === before.dev && ino === before.ino && size >= before.size
}

async function writeAndSync(path: string, file: FileHandle, lines: readonly JournalLine[]): Promise<number> {
  const bytes = Buffer.from(`\n${lines.map((line) => `${formatJournalLine(line)}\n`).join('')}`)
  const { bytesWritten } = await file.write(bytes)
  // The rest would follow lines that other processes have written meanwhile.
  if (bytesWritten < bytes.length)
    throw new Error(`only ${bytesWritten} of ${bytes.length} bytes were written to ${path}`)
  await file.datasync()
  return bytesWritten
}

const appending = constants.O_WRONLY | constants.O_APPEND

async function openForAppending(path: string): Promise<FileHandle> {
  return (await openExisting(path)) ?? create(path)
}

function openExisting(path: string): Promise<FileHandle | null> {
  return open(path, appending).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
}

/** Throws an error for the operator if no line could be appended. Creates no journal, but its folder. */
export async function requireWritableJournal(
  path: string,
  { uuid }: Pick<Randomness, 'uuid'>,
): Promise<void> {
  try {
    const found = await openExisting(path)
    if (found) return await found.close()
    const folder = dirname(path)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const probe = join(folder, `lethe-journal-${uuid()}`)
    await (await open(probe, 'wx', 0o600)).close()
    await unlink(probe)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`The journal ${path} cannot be written: ${reason}.`, { cause: error })
  }
}

/** Readable by its owner only. Its name is durable before its content. */
async function create(path: string) {
  const folder = dirname(path)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const file = await open(path, appending | constants.O_CREAT, 0o600)
  // Windows cannot open folders, and makes names durable itself.
  if (process.platform === 'win32') return file
  const entries = await open(folder, 'r')
  try {
    await entries.sync()
  } finally {
    await entries.close()
  }
  return file
}

interface ReadOptions extends JournalReading {
  /** Treats a missing file as empty. */
  mayBeMissing?: boolean
}

/** Memory use does not grow with the file. Throws if none of the lines is one of a journal. */
async function* readJournal(
  path: string,
  { onUnreadable, from = 0, onEnd, mayBeMissing = false }: ReadOptions = {},
): AsyncGenerator<JournalLine> {
  let number = 0
  // A file that was moved away and restarted is shorter.
  const start = from > 0 && (await sizeOf(path)) < from ? 0 : from
  let offset = start
  // Reported after the first readable line: a file that has none may be no journal.
  const first: number[] = []
  let isJournal = start > 0
  let isForeign = false
  for await (const { bytes, isWhole } of linesOf(path, start, mayBeMissing)) {
    number += 1
    // A line without a newline may still be incomplete.
    if (isWhole) offset += bytes.length + 1
    if (bytes.length === 0) continue
    const text = bytes.toString('utf8')
    const line = parseJournalLine(text)
    if (line) {
      isJournal = true
      for (const unreadable of first.splice(0)) onUnreadable?.(unreadable)
      yield line
    } else if (isJournal) onUnreadable?.(number)
    else {
      first.push(number)
      isForeign ||= !beginsAsJournalLine(text)
    }
  }
  if (!isJournal && isForeign) throw new Error(`${path} is not a journal: none of its lines can be read.`)
  for (const unreadable of first) onUnreadable?.(unreadable)
  onEnd?.(offset)
}

/** Throws if a file has lines, and they are not those of a journal. */
async function requireJournal(path: string): Promise<void> {
  for await (const _ of readJournal(path)) return
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => null))?.size ?? 0
}

/** Far longer than any line. */
const maxLineBytes = 1_000_000
const newline = 0x0a

async function* linesOf(
  path: string,
  start: number,
  mayBeMissing: boolean,
): AsyncGenerator<{ bytes: Buffer; isWhole: boolean }> {
  let rest = Buffer.alloc(0)
  try {
    const chunks: AsyncIterable<Buffer> = createReadStream(path, { start })
    for await (const chunk of chunks) {
      const bytes = Buffer.concat([rest, chunk])
      let begin = 0
      for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, begin)) {
        yield { bytes: bytes.subarray(begin, end), isWhole: true }
        begin = end + 1
      }
      rest = bytes.subarray(begin)
      if (rest.length > maxLineBytes) throw new Error(`${path} is not a journal: it has no lines.`)
    }
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error
    const isMissing = 'code' in error && error.code === 'ENOENT'
    if (isMissing && mayBeMissing) return
    const why = isMissing
      ? `There is no journal at ${path}.`
      : `The journal ${path} cannot be read: ${error.message}`
    throw new Error(why, { cause: error })
  }
  if (rest.length > 0) yield { bytes: rest, isWhole: false }
}

/** Merges several journals by time, so that ledger entries are almost in order and few are buffered. */
export async function* mergeJournals(
  paths: readonly string[],
  onUnreadable: (path: string, line: number) => void,
): AsyncGenerator<JournalLine> {
  const readers = paths.map((path) => readJournal(path, { onUnreadable: (line) => onUnreadable(path, line) }))
  try {
    const next = await Promise.all(readers.map(async (reader) => ({ reader, ...(await reader.next()) })))
    for (;;) {
      let first: { at: number; index: number; line: JournalLine } | null = null
      for (const [index, { done, value }] of next.entries()) {
        if (done || (first && first.at <= value.at)) continue
        first = { at: value.at, index, line: value }
      }
      if (!first) return
      yield isEntry(first.line) ? { ...first.line, journal: first.index } : first.line
      const { reader } = next[first.index] ?? {}
      if (reader) next[first.index] = { reader, ...(await reader.next()) }
    }
  } finally {
    for (const reader of readers) await reader.return(undefined)
  }
}
