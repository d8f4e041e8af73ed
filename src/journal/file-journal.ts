import { constants } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { JournalFile, JournalReading, JournalReports } from '../domain/journal.ts'
import { formatJournalLine, type JournalLine } from '../domain/journal-line.ts'
import { readJournal } from './read-journal.ts'

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
