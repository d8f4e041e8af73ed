import { constants, createReadStream } from 'node:fs'
import { mkdir, open, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { JournalFile, JournalReading, JournalReports } from './domain/journal.ts'
import { formatJournalLine, instantOf, type JournalLine, parseJournalLine } from './domain/journal-line.ts'

/**
 * A journal in a file, to which any number of processes of one machine may append. Lines that come while others are being written share
 * the next write. A write is one system call on a file that is open for appending, so that no other stands within it; it begins with a
 * newline, so that one that was torn before it, by a crash or a full disk, spoils nothing else.
 */
export class FileJournal implements JournalFile {
  readonly place: string
  #waiting: string[] = []
  #underWay: Promise<unknown> = Promise.resolve()
  #next: Promise<void> | null = null
  #hasFailed = false
  #reports: Pick<JournalReports, 'onFailed' | 'onRecovered'> = { onFailed() {}, onRecovered() {} }

  constructor(path: string) {
    this.place = path
  }

  append(lines: readonly JournalLine[]): Promise<void> {
    this.#waiting.push(...lines.map((line) => `${formatJournalLine(line)}\n`))
    return this.#write()
  }

  async recover(): Promise<void> {
    if (this.#hasFailed) await this.#write()
  }

  waitingLines(): number {
    return this.#hasFailed ? this.#waiting.length : 0
  }

  read(reading: JournalReading = {}): AsyncIterable<JournalLine> {
    return readJournal(this.place, { ...reading, mayBeMissing: true })
  }

  watch(reports: Pick<JournalReports, 'onFailed' | 'onRecovered'>): void {
    this.#reports = reports
  }

  /** Everything that waits when the write before has ended is in the next one. */
  #write(): Promise<void> {
    this.#next ??= this.#underWay.then(() => {
      this.#next = null
      const writing = this.#writeWaiting()
      this.#underWay = writing.catch(() => {})
      return writing
    })
    return this.#next
  }

  async #writeWaiting(): Promise<void> {
    const lines = this.#waiting
    this.#waiting = []
    try {
      if (lines.length > 0) await appendAndSync(this.place, `\n${lines.join('')}`)
    } catch (cause) {
      this.#waiting = [...lines, ...this.#waiting]
      this.#hasFailed = true
      const reason = cause instanceof Error ? cause.message : String(cause)
      const error = new Error(`What was done stands, but the journal cannot be written: ${reason}.`, {
        cause,
      })
      this.#reports.onFailed(error)
      throw error
    }
    if (!this.#hasFailed) return
    this.#hasFailed = false
    this.#reports.onRecovered()
  }
}

/** Opened anew each time, so that lines never go to a file that was moved away. */
async function appendAndSync(path: string, text: string): Promise<void> {
  const file = await openForAppending(path)
  try {
    const bytes = Buffer.from(text)
    const { bytesWritten } = await file.write(bytes)
    // The rest would come behind what others have written meanwhile.
    if (bytesWritten < bytes.length) throw new Error(`${path} took ${bytesWritten} of ${bytes.length} bytes`)
    await file.datasync()
  } finally {
    await file.close()
  }
}

const appending = constants.O_WRONLY | constants.O_APPEND

async function openForAppending(path: string) {
  const found = await open(path, appending).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  return found ?? create(path)
}

/** For its owner's eyes alone. Its name is on the disk before anything is in it. */
async function create(path: string) {
  const folder = dirname(path)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const file = await open(path, appending | constants.O_CREAT, 0o600)
  // Windows opens no folders, and makes names durable by itself.
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
  /** A file that is not there is then an empty one. */
  mayBeMissing?: boolean
}

/** Reads a journal to its end; memory does not grow with it. */
async function* readJournal(
  path: string,
  { onUnreadable, from = 0, onEnd, mayBeMissing = false }: ReadOptions = {},
): AsyncGenerator<JournalLine> {
  let number = 0
  // A file that was moved away and begun again is shorter.
  const start = from > 0 && (await sizeOf(path)) < from ? 0 : from
  let offset = start
  for await (const { bytes, isWhole } of linesOf(path, start, mayBeMissing)) {
    number += 1
    // A line without its end may still be on its way.
    if (isWhole) offset += bytes.length + 1
    if (bytes.length === 0) continue
    const line = parseJournalLine(bytes.toString('utf8'))
    if (line) yield line
    else onUnreadable?.(number)
  }
  onEnd?.(offset)
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => null))?.size ?? 0
}

/** No line is longer, by far. */
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
      if (rest.length > maxLineBytes) throw new Error(`${path} is no journal: it has no lines.`)
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

/**
 * The lines of several journals, such as those of the machines of a fleet, by their instants: so the entries of a ledger come almost in
 * their order, and few of them have to be remembered.
 */
export async function* mergeJournals(
  paths: readonly string[],
  onUnreadable: (path: string, line: number) => void,
): AsyncGenerator<JournalLine> {
  const readers = paths.map((path) => readJournal(path, { onUnreadable: (line) => onUnreadable(path, line) }))
  try {
    const next = await Promise.all(readers.map(async (reader) => ({ reader, ...(await reader.next()) })))
    for (;;) {
      let first: { at: number; place: number; line: JournalLine } | null = null
      for (const [place, { done, value }] of next.entries()) {
        if (done || (first && first.at <= instantOf(value))) continue
        first = { at: instantOf(value), place, line: value }
      }
      if (!first) return
      yield first.line
      const { reader } = next[first.place] ?? {}
      if (reader) next[first.place] = { reader, ...(await reader.next()) }
    }
  } finally {
    for (const reader of readers) await reader.return(undefined)
  }
}
