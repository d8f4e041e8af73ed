import type { Command } from 'commander'
import type { Tracker } from '../domain/tracker.ts'
import { createTracker } from '../operations/create-tracker.ts'
import { requireOrganisation } from '../operations/require-organisation.ts'
import type { CommandKit } from './command-kit.ts'
import { flagOrAnswer } from './questions.ts'
import { table } from './table.ts'

export function addTrackersCommand(program: Command, { terminal, withStore }: CommandKit): void {
  const trackers = program.command('trackers').description('trackers: create, list')

  trackers
    .command('create')
    .description('create a tracker')
    .option('--org <org>', 'the organisation it belongs to')
    .option('--name <name>', 'its name')
    .option('--id <id>', 'its id (default: a random one)')
    .option('--json', 'print one JSON object')
    .action((options: { org?: string; name?: string; id?: string; json?: true }) =>
      withStore(async (workplace) => {
        const organisationId = await flagOrAnswer(terminal, options.org, '--org', 'Organisation (its id): ')
        const name = await flagOrAnswer(terminal, options.name, '--name', 'Name of the tracker: ')
        const id = options.id === undefined ? {} : { id: options.id }
        const tracker = await createTracker(workplace, { organisationId, name, ...id })
        if (options.json) terminal.print(JSON.stringify(toJson(tracker)))
        else terminal.print(`Created the tracker ${tracker.id}.`)
      }),
    )

  trackers
    .command('list')
    .description("list an organisation's trackers")
    .requiredOption('--org <org>', 'the organisation')
    .option('--json', 'print one JSON object per line')
    .action((options: { org: string; json?: true }) =>
      withStore(async (workplace) => {
        await requireOrganisation(workplace, options.org)
        const all = await workplace.trackers.list(options.org)
        const lines = options.json
          ? all.map((tracker) => JSON.stringify(toJson(tracker)))
          : table(
              ['ID', 'NAME'],
              all.map(({ id, name }) => [id, name]),
            )
        for (const line of lines) terminal.print(line)
      }),
    )
}

function toJson({ id, organisationId, name }: Tracker) {
  return { id, orgId: organisationId, name }
}
