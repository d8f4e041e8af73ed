import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { JournalReading } from '../domain/journal.ts'
import { type JournalLine, parseJournalLine } from '../domain/journal-line.ts'

interface ReadOptions extends JournalReading {
  /** A file that is not there is then an empty one. */
  mayBeMissing?: boolean
}

/** Reads a journal to its end; memory does not grow with it. */
export async function* readJournal(
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
