import type { Command } from 'commander'
import { createStore } from '../../start.ts'
import type { CommandKit } from '../command-kit.ts'

export function addInitCommand(program: Command, { terminal, config }: CommandKit): void {
  program
    .command('init')
    .description('create an empty store; an existing store is not changed')
    .option('--json', 'print one JSON object')
    .action(async (options: { json?: true }) => {
      const { place, created } = await createStore(config())
      const words = created
        ? `Created an empty store at ${place}.`
        : `A store already exists at ${place}. Nothing was changed.`
      terminal.print(options.json ? JSON.stringify({ store: place, created }) : words)
    })
}

export function addMigrateCommand(program: Command, { terminal, ensureStore }: CommandKit): void {
  program
    .command('migrate')
    .description('upgrade the store, as every start does')
    .option(
      '--distributed',
      'distribute subjects, sessions, events and identifiers over the nodes of a PostgreSQL cluster with the Citus extension',
    )
    .option('--json', 'print one JSON object')
    .action((options: { distributed?: true; json?: true }) =>
      ensureStore(async ({ maintenance }) => {
        const { distributed = false } = options
        if (distributed) await maintenance.distribute()
        const done = distributed
          ? 'The store is up to date and distributed over the cluster. Restart all other processes.'
          : 'The store is up to date.'
        terminal.print(options.json ? JSON.stringify({ isUpToDate: true, distributed }) : done)
      }),
    )
}
