import type { Command } from 'commander'
import type { ServicesWithoutSecrets } from '../../domain/services.ts'
import {
  deleteOrganisation,
  requireDeletableOrganisation,
} from '../../operations/organisation/delete-organisation.ts'
import type { CommandKit } from '../command-kit.ts'
import { flagOrAnswer } from '../questions.ts'
import { countHeld, heldInWords, removeWithProgress } from './removal.ts'

export function addDeleteOrganisationCommand(orgs: Command, { terminal, withStore }: CommandKit): void {
  orgs
    .command('delete')
    .description('delete an organisation with its trackers, keys and members, for good')
    .argument('<org>', 'its id')
    .option('--name <name>', 'the name of the organisation, to confirm it here, without a question')
    .option('--json', 'print one JSON object')
    .action((id: string, options: { name?: string; json?: true }) =>
      withStore(async (services) => {
        const organisation = await requireDeletableOrganisation(services, id)
        const held = await countAll(services, id)
        terminal.tell(
          `The organisation "${organisation.name}" has ${inWords(held)}. They go for good; its activity is kept.`,
        )
        const question = 'Type its name to delete it: '
        const typedName = await flagOrAnswer(terminal, options.name, '--name', question)
        const { name } = await deleteOrganisation(services, id, typedName)
        await removeWithProgress(terminal, services, ({ organisationId }) => organisationId === id)
        const deleted = { id, name, deleted: held }
        terminal.print(
          options.json
            ? JSON.stringify(deleted)
            : `Deleted the organisation "${name}" with ${inWords(held)}.`,
        )
      }),
    )
}

/** What an organisation has, its trackers included whose deletion is under way. */
async function countAll(services: ServicesWithoutSecrets, id: string) {
  const remaining = (await services.deletions.listTrackers()).filter(
    (tracker) => tracker.organisationId === id,
  )
  const trackers = [...(await services.trackers.list(id)), ...remaining]
  return {
    trackers: trackers.length,
    keys: (await services.apiKeys.list(id)).length,
    members: (await services.members.list(id)).length,
    ...(await countHeld(services, trackers)),
  }
}

function inWords(held: Awaited<ReturnType<typeof countAll>>): string {
  return `${held.trackers} trackers, ${held.keys} keys, ${held.members} members, ${heldInWords(held)}`
}
