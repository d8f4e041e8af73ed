import { type Command, InvalidArgumentError } from 'commander'
import { type DailyTotal, type Day, dayOf, formatDay } from '../../domain/daily-total.ts'
import { parseInstant } from '../../domain/instant.ts'
import type { Tracker } from '../../domain/tracker.ts'
import { requireOrganisation } from '../../operations/organisation.ts'
import {
  createTracker,
  deleteTracker,
  renameTracker,
  requireDeletableTracker,
  requireTracker,
} from '../../operations/tracker.ts'
import type { CommandKit } from '../command-kit.ts'
import { table } from '../progress.ts'
import { flagOrAnswer } from '../terminal.ts'
import { countHeld, heldInWords, removeWithProgress } from './removal.ts'

export function addTrackersCommand(program: Command, kit: CommandKit): void {
  const { terminal, withStore } = kit
  const trackers = program
    .command('trackers')
    .description('trackers: create, list, rename, delete, daily totals')

  trackers
    .command('create')
    .description('create a tracker')
    .option('--org <org>', 'the organisation it belongs to')
    .option('--name <name>', 'its name')
    .option('--id <id>', 'its ID (default: random)')
    .option('--json', 'print one JSON object')
    .action((options: { org?: string; name?: string; id?: string; json?: true }) =>
      withStore(async (services) => {
        const organisationId = await flagOrAnswer(terminal, options.org, '--org', 'Organisation ID: ')
        const name = await flagOrAnswer(terminal, options.name, '--name', 'Name of the tracker: ')
        const id = options.id === undefined ? {} : { id: options.id }
        const tracker = await createTracker(services, { organisationId, name, ...id })
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
      withStore(async (services) => {
        await requireOrganisation(services, options.org)
        const all = await services.trackers.list(options.org)
        const lines = options.json
          ? all.map((tracker) => JSON.stringify(toJson(tracker)))
          : table(
              ['ID', 'NAME'],
              all.map(({ id, name }) => [id, name]),
            )
        for (const line of lines) terminal.print(line)
      }),
    )

  trackers
    .command('rename')
    .description('rename a tracker; its ID does not change')
    .argument('<tracker>', 'its ID')
    .option('--name <name>', 'the new name')
    .option('--json', 'print one JSON object')
    .action((id: string, options: { name?: string; json?: true }) =>
      withStore(async (services) => {
        const name = await flagOrAnswer(terminal, options.name, '--name', 'New name of the tracker: ')
        const tracker = await renameTracker(services, id, name)
        if (options.json) terminal.print(JSON.stringify(toJson(tracker)))
        else terminal.print(`Renamed ${tracker.id} to "${tracker.name}".`)
      }),
    )

  addDeleteTrackerCommand(trackers, kit)

  trackers
    .command('totals')
    .description('show the daily totals of a tracker (UTC)')
    .argument('<tracker>', 'its ID')
    .option('--from <day>', 'the first day, such as 2026-01-31 (default: 30 days ago)', readDay)
    .option('--to <day>', 'the last day (default: today)', readDay)
    .option('--json', 'print one JSON object per line')
    .action((id: string, options: { from?: Day; to?: Day; json?: true }) =>
      withStore(async ({ trackers, dailyTotals, clock }) => {
        const { organisationId } = await requireTracker({ trackers }, id)
        const { from = dayOf(clock()) - 30, to = dayOf(clock()) } = options
        const days = (await dailyTotals.list({ organisationId, trackerId: id }, from, to)) ?? []
        const lines = options.json
          ? days.map((total) => JSON.stringify({ ...total, day: formatDay(total.day) }))
          : table(
              ['DAY', 'SESSIONS', 'EVENTS'],
              days.map((total) => [formatDay(total.day), String(total.sessions), eventList(total)]),
            )
        for (const line of lines) terminal.print(line)
      }),
    )
}

function eventList({ events, otherEvents }: DailyTotal): string {
  const named = Object.entries(events).map(([name, count]) => `${name} ${count}`)
  return [...named, ...(otherEvents > 0 ? [`others ${otherEvents}`] : [])].join(', ')
}

function readDay(text: string): Day {
  const instant = parseInstant(`${text}T00:00:00Z`)
  if (instant === null) throw new InvalidArgumentError('Expected a day such as 2026-01-31.')
  return dayOf(instant)
}

function toJson({ id, organisationId, name }: Tracker) {
  return { id, orgId: organisationId, name }
}

function addDeleteTrackerCommand(trackers: Command, { terminal, withStore }: CommandKit): void {
  trackers
    .command('delete')
    .description('permanently delete a tracker and all its data')
    .argument('<tracker>', 'its ID')
    .option('--name <name>', 'the name of the tracker, to confirm without a question')
    .option('--json', 'print one JSON object')
    .action((id: string, options: { name?: string; json?: true }) =>
      withStore(async (services) => {
        const tracker = await requireDeletableTracker(services, id)
        const held = await countHeld(services, [tracker])
        terminal.tell(
          `The tracker "${tracker.name}" has ${heldInWords(held)}. All of this, its daily totals, variables and variable tokens will be deleted permanently.`,
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
