import { createReadStream } from 'node:fs'
import { type JournalLine, parseJournalLine } from '../domain/journal.ts'

interface ReadOptions {
  /** Told the number of each line that is none, such as one that a crash has torn. */
  onUnreadable?: ((line: number) => void) | undefined
  /** A file that is not there is then an empty one. */
  mayBeMissing?: boolean
}

/** Reads a journal from end to end; memory does not grow with it. */
export async function* readJournal(
  path: string,
  { onUnreadable, mayBeMissing = false }: ReadOptions = {},
): AsyncGenerator<JournalLine> {
  let number = 0
  for await (const text of linesOf(path, mayBeMissing)) {
    number += 1
    if (text === '') continue
    const line = parseJournalLine(text)
    if (line) yield line
    else onUnreadable?.(number)
  }
}

/** No line is longer, by far. */
const maxLineLength = 1_000_000

async function* linesOf(path: string, mayBeMissing: boolean): AsyncGenerator<string> {
  let rest = ''
  try {
    for await (const chunk of createReadStream(path, { encoding: 'utf8' })) {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop() ?? ''
      if (rest.length > maxLineLength) throw new Error(`${path} is no journal: it has no lines.`)
      yield* lines
    }
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    if (!(isMissing && mayBeMissing)) throw error
  }
  yield rest
}
