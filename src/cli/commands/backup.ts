import { resolve } from 'node:path'
import type { Command } from 'commander'

import {
  type BackupContents,
  checkBackup,
  describeBackup,
  type Restored,
  requireNoContents,
  restoreStore,
} from '../../runtime/restore.ts'
import { storeStatus } from '../../start.ts'
import { type CommandKit, secretReports } from '../command-kit.ts'
import { counted, megabytes } from '../progress.ts'
import { requireYes, UsageError } from '../terminal.ts'
import { failOnProblems, journalsOf, replayedInWords, unreadableReports } from './journal.ts'

export function addBackupCommand(program: Command, { terminal, config, withStore }: CommandKit): void {
  const backup = program
    .command('backup')
    .description('write a consistent copy of the store to a file, while the service runs')
    .argument('<file>', 'the file to write, which must not exist')
    .option('--json', 'print one JSON object')
    .action((file: string, options: { json?: true }) => {
      if (file === '-')
        throw new UsageError('A backup cannot be written to standard output. For a file named -, use ./-')
      return withStore(async ({ maintenance }) => {
        requireNoContents(resolve(file))
        await maintenance.backup(resolve(file))
        const contents = await describeBackup(resolve(file))
        terminal.print(
          options.json
            ? JSON.stringify({ file, ...contents })
            : `Wrote ${file} (${megabytes(contents.bytes)}), and a description of its contents to ${file}.json.`,
        )
      })
    })
  backup
    .command('verify')
    .description('verify a backup: its pages, its ledgers, and that it matches its JSON file')
    .argument('<file>', 'the backup')
    .option('--json', 'print one JSON object')
    .action(async (file: string, _: unknown, command: Command) => {
      config()
      const contents = await checkBackup(resolve(file))
      const { json } = command.optsWithGlobals<{ json?: true }>()
      terminal.print(
        json
          ? JSON.stringify({ file, isWhole: true, ...contents })
          : `${file} is intact (${megabytes(contents.bytes)}): ${inWords(contents)}.`,
      )
    })
}

function inWords({ rows, ledgers, storeVersion }: BackupContents): string {
  const entries = ledgers.reduce((sum, { size }) => sum + size, 0)
  return `${counted(rows.subjects ?? 0, 'subject')}, ${counted(rows.sessions ?? 0, 'session')}, ${counted(rows.events ?? 0, 'event')}, ${counted(entries, 'ledger entry', 'ledger entries')}, store version ${storeVersion}`
}

interface RestoreFlags {
  journal?: string[]
  yes?: true
  json?: true
}

export function addRestoreCommand(program: Command, { terminal, config, summarise }: CommandKit): void {
  program
    .command('restore')
    .description('replace the embedded store with a backup; people erased since then stay erased')
    .argument('<backup>', 'a file written by lethe backup')
    .option('--journal <file...>', 'journals with changes since the backup')
    .option('--yes', 'replace an existing store, or continue without store and journal, without a question')
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
            ? `The store at ${place} will be replaced by ${backup}. Type yes to continue: `
            : `There is neither a store at ${place} nor a journal at ${settings.journal}, so people erased since ${backup} was made will come back. Type yes to continue: `
          await requireYes(terminal, question, 'Not confirmed. Nothing was changed.')
        },
      })
      if (options.json) summarise({ store: place, ...restored })
      else for (const line of restoredInWords(restored, place, backup)) terminal.print(line)
      failOnProblems(restored)
    })
}

const before = {
  store: 'Erasures, and changes of keys and tokens, in the replaced store were kept.',
  unreadable: 'The replaced store could not be read, so nothing was kept of it.',
  none: 'There was no store to replace.',
}

function restoredInWords(restored: Restored, place: string, backup: string): string[] {
  return [`Restored ${backup} to ${place}. ${before[restored.replaced]}`, ...replayedInWords(restored)]
}
