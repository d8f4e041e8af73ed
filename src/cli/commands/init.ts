import type { Command } from 'commander'
import { createStore } from '../../services.ts'
import type { CommandKit } from '../command-kit.ts'

export function addInitCommand(program: Command, { terminal, config }: CommandKit): void {
  program
    .command('init')
    .description('make an empty store; one that is there stays as it is')
    .option('--json', 'print one JSON object')
    .action(async (options: { json?: true }) => {
      const { place, created } = await createStore(config())
      const words = created
        ? `Made an empty store at ${place}.`
        : `There is a store at ${place} already; nothing was changed.`
      terminal.print(options.json ? JSON.stringify({ store: place, created }) : words)
    })
}
