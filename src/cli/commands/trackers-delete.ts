import type { Command } from 'commander'
import { deleteTracker, requireDeletableTracker } from '../../operations/tracker/delete-tracker.ts'
import type { CommandKit } from '../command-kit.ts'
import { flagOrAnswer } from '../questions.ts'
import { countHeld, heldInWords, removeWithProgress } from './removal.ts'

export function addDeleteTrackerCommand(trackers: Command, { terminal, withStore }: CommandKit): void {
  trackers
    .command('delete')
    .description('delete a tracker and everything it holds, for good')
    .argument('<tracker>', 'its id')
    .option('--name <name>', 'the name of the tracker, to confirm it here, without a question')
    .option('--json', 'print one JSON object')
    .action((id: string, options: { name?: string; json?: true }) =>
      withStore(async (services) => {
        const tracker = await requireDeletableTracker(services, id)
        const held = await countHeld(services, [tracker])
        terminal.tell(
          `The tracker "${tracker.name}" holds ${heldInWords(held)}. They go for good, and its daily totals with them.`,
        )
        const question = 'Type its name to delete it: '
        const typedName = await flagOrAnswer(terminal, options.name, '--name', question)
        const { name, organisationId } = await deleteTracker(services, id, typedName)
        await removeWithProgress(terminal, services, (deleted) => deleted.id === id)
        const deleted = { id, orgId: organisationId, name, deleted: held }
        terminal.print(
          options.json ? JSON.stringify(deleted) : `Deleted the tracker "${name}" with ${heldInWords(held)}.`,
        )
      }),
    )
}
