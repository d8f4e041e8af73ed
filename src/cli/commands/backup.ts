import { resolve } from 'node:path'
import type { Command } from 'commander'
import { type BackupContents, checkBackup, describeBackup } from '../../services.ts'
import type { CommandKit } from '../command-kit.ts'
import { counted } from '../counted.ts'
import { UsageError } from '../usage-error.ts'

export function addBackupCommand(program: Command, { terminal, config, withStore }: CommandKit): void {
  const backup = program
    .command('backup')
    .description('write a consistent copy of the store to a file, while the service runs')
    .argument('<file>', 'the file to write, which must not exist')
    .option('--json', 'print one JSON object')
    .action((file: string, options: { json?: true }) => {
      if (file === '-') throw new UsageError('A backup goes to a file; - is none. A file of that name is ./-')
      return withStore(async ({ maintenance }) => {
        await maintenance.backup(resolve(file))
        const contents = await describeBackup(resolve(file))
        terminal.print(
          options.json
            ? JSON.stringify({ file, ...contents })
            : `Wrote ${file} (${megabytes(contents)}), and what it holds to ${file}.json.`,
        )
      })
    })
  backup
    .command('verify')
    .description('check that a backup is whole: its pages, its ledgers, and what is told of it beside it')
    .argument('<file>', 'the backup')
    .option('--json', 'print one JSON object')
    .action(async (file: string, _: unknown, command: Command) => {
      config()
      const contents = await checkBackup(resolve(file))
      const { json } = command.optsWithGlobals<{ json?: true }>()
      terminal.print(
        json
          ? JSON.stringify({ file, isWhole: true, ...contents })
          : `${file} is whole (${megabytes(contents)}): ${inWords(contents)}.`,
      )
    })
}

function megabytes({ bytes }: BackupContents): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}

function inWords({ rows, ledgers, storeVersion }: BackupContents): string {
  const entries = ledgers.reduce((sum, { size }) => sum + size, 0)
  return `${counted(rows.subjects ?? 0, 'subject')}, ${counted(rows.sessions ?? 0, 'session')}, ${counted(rows.events ?? 0, 'event')}, ${counted(entries, 'entry', 'entries')} of ledgers, store version ${storeVersion}`
}
