import { resolve } from 'node:path'
import type { Command } from 'commander'
import { LetheError } from '../../domain/errors.ts'
import { type Restored, restoreStore, storeStatus } from '../../services.ts'
import type { CommandKit } from '../command-kit.ts'
import { flagOrAnswer } from '../questions.ts'
import { secretReports } from '../secret-words.ts'
import { failOnProblems, journalsOf, unreadableReports } from './journal.ts'
import { replayedInWords } from './replayed-words.ts'

interface RestoreFlags {
  journal?: string[]
  yes?: true
  json?: true
}

export function addRestoreCommand(program: Command, { terminal, config, summarise }: CommandKit): void {
  program
    .command('restore')
    .description('put a backup in the place of the embedded store; who was erased since stays erased')
    .argument('<backup>', 'the file that lethe backup wrote')
    .option('--journal <file...>', 'journals that know what has happened since')
    .option('--yes', 'replace a store that is there, or go on without store and journal, without a question')
    .option('--json', 'print one JSON object')
    .action(async (backup: string, options: RestoreFlags) => {
      const settings = config()
      const { place } = storeStatus(settings)
      const journals = journalsOf(terminal, options.journal, settings)
      const isJournalMissing = settings.journal !== null && journals.length === 0
      const restored = await restoreStore(settings, {
        backup: resolve(backup),
        journals,
        onUnreadable: unreadableReports(terminal),
        ...secretReports(terminal),
        async confirm(isThere) {
          if (options.yes || (!isThere && !isJournalMissing)) return
          const question = isThere
            ? `The store at ${place} will be replaced by ${backup}. Type yes to go on: `
            : `There is neither a store at ${place} nor a journal at ${settings.journal}: nothing tells who was erased since ${backup} was made. Type yes to go on: `
          if ((await flagOrAnswer(terminal, undefined, '--yes', question)).trim() === 'yes') return
          throw new LetheError('invalid_request', 'Not confirmed; nothing was changed.')
        },
      })
      if (options.json) summarise({ store: place, ...restored })
      else for (const line of inWords(restored, place, backup)) terminal.print(line)
      failOnProblems(restored)
    })
}

const before = {
  store: 'What the store before it knew was taken along.',
  unreadable: 'The store before it could not be read: nothing was taken from it.',
  none: 'There was no store before it.',
}

function inWords(restored: Restored, place: string, backup: string): string[] {
  return [`Restored ${backup} to ${place}. ${before[restored.replaced]}`, ...replayedInWords(restored)]
}
