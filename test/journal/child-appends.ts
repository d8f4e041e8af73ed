import { FileJournal } from '../../src/journal.ts'

// Appends lines to a journal, as one of several processes.
const [, , path = '', name = '', count = ''] = process.argv
const journal = new FileJournal(path)
const numbers = Array.from({ length: Number(count) }, (_, number) => number)
await Promise.all(
  numbers.map((number) =>
    journal.append([{ kind: 'revocation', credential: 'key', id: `${name}-${number}`, at: number }]),
  ),
)
