import type { Command } from 'commander'
import { createStore } from '../../start.ts'
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

export function addMigrateCommand(program: Command, { terminal, ensureStore }: CommandKit): void {
  program
    .command('migrate')
    .description('bring the store up to date now, as every start does')
    .option(
      '--distributed',
      'spread what grows over the nodes of a PostgreSQL cluster with the Citus extension',
    )
    .option('--json', 'print one JSON object')
    .action((options: { distributed?: true; json?: true }) =>
      ensureStore(async ({ maintenance }) => {
        const { distributed = false } = options
        if (distributed) await maintenance.distribute()
        const done = distributed
          ? 'The store is up to date, and what grows is spread over the cluster. Start the other processes again.'
          : 'The store is up to date.'
        terminal.print(options.json ? JSON.stringify({ isUpToDate: true, distributed }) : done)
      }),
    )
}
