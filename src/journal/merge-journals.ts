import { instantOf, type JournalLine } from '../domain/journal-line.ts'
import { readJournal } from './read-journal.ts'

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
