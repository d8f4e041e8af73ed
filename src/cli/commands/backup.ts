import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { CommandKit } from '../command-kit.ts'
import { UsageError } from '../usage-error.ts'

export function addBackupCommand(program: Command, { terminal, config, withStoreAt }: CommandKit): void {
  program
    .command('backup')
    .description('write a consistent copy of the store to a file, while the service runs')
    .argument('<file>', 'the file to write, which must not exist')
    .option('--json', 'print one JSON object')
    .action((file: string, options: { json?: true }) => {
      if (file === '-') throw new UsageError('A backup goes to a file; - is none. A file of that name is ./-')
      return withStoreAt(config().store, { create: false }, async ({ maintenance }) => {
        await maintenance.backup(resolve(file))
        const { size: bytes } = statSync(file)
        terminal.print(
          options.json ? JSON.stringify({ file, bytes }) : `Wrote ${file} (${(bytes / 1e6).toFixed(1)} MB).`,
        )
      })
    })
}
