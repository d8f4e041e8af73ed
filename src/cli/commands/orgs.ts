import { type Command, Option } from 'commander'
import type { Organisation } from '../../domain/organisation.ts'
import { plans } from '../../domain/plan.ts'
import { createOrganisation } from '../../operations/organisation/create-organisation.ts'
import { renameOrganisation } from '../../operations/organisation/rename-organisation.ts'
import type { CommandKit } from '../command-kit.ts'
import { flagOrAnswer } from '../questions.ts'
import { table } from '../table.ts'
import { addDeleteOrganisationCommand } from './orgs-delete.ts'
import { addSetPlanCommand } from './orgs-set-plan.ts'

export function addOrgsCommand(program: Command, kit: CommandKit): void {
  const { terminal, withStore, ensureStore } = kit
  const orgs = program
    .command('orgs')
    .description('organisations: create, list, rename, delete, change their plan')

  orgs
    .command('create')
    .description('create an organisation')
    .option('--name <name>', 'its name')
    .addOption(new Option('--plan <plan>', 'its plan').choices(plans).default('free'))
    .option('--id <id>', 'its id (default: a random one)')
    .option('--json', 'print one JSON object')
    .action((options: { name?: string; plan: string; id?: string; json?: true }) =>
      ensureStore(async (services) => {
        const name = await flagOrAnswer(terminal, options.name, '--name', 'Name of the organisation: ')
        const organisation = await createOrganisation(services, { ...options, name })
        if (options.json) terminal.print(JSON.stringify(toJson(organisation)))
        else terminal.print(`Created the organisation ${organisation.id} on the plan ${organisation.plan}.`)
      }),
    )

  orgs
    .command('list')
    .description('list the organisations')
    .option('--json', 'print one JSON object per line')
    .action((options: { json?: true }) =>
      withStore(async ({ organisations }) => {
        const all = await organisations.list()
        const lines = options.json
          ? all.map((organisation) => JSON.stringify(toJson(organisation)))
          : table(
              ['ID', 'NAME', 'PLAN'],
              all.map(({ id, name, plan }) => [id, name, plan]),
            )
        for (const line of lines) terminal.print(line)
      }),
    )

  orgs
    .command('rename')
    .description('give an organisation another name; its id stays')
    .argument('<org>', 'its id')
    .option('--name <name>', 'the new name')
    .option('--json', 'print one JSON object')
    .action((org: string, options: { name?: string; json?: true }) =>
      withStore(async (services) => {
        const name = await flagOrAnswer(terminal, options.name, '--name', 'New name of the organisation: ')
        const organisation = await renameOrganisation(services, org, name)
        if (options.json) terminal.print(JSON.stringify(toJson(organisation)))
        else terminal.print(`${organisation.id} is named "${organisation.name}" now.`)
      }),
    )

  addDeleteOrganisationCommand(orgs, kit)
  addSetPlanCommand(orgs, kit)
}

function toJson({ id, name, plan }: Organisation) {
  return { id, name, plan }
}
