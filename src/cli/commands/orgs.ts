import { Argument, type Command, Option } from 'commander'
import { LetheError } from '../../domain/errors.ts'
import { formatInstantOrNull, type Instant } from '../../domain/instant.ts'
import type { Organisation } from '../../domain/organisation.ts'
import { deletesFrom, type Plan, plans, windowStart } from '../../domain/retention.ts'
import type { ServicesWithoutSecrets } from '../../domain/services.ts'
import { countAged, type SweptTotals, sweepAged } from '../../maintenance/sweep.ts'
import {
  createOrganisation,
  deleteOrganisation,
  renameOrganisation,
  requireDeletableOrganisation,
  requireOrganisation,
  setPlan,
} from '../../operations/organisation.ts'
import { type CommandKit, waitForMaintenanceLock } from '../command-kit.ts'
import { counted, table } from '../progress.ts'
import { flagOrAnswer, type Terminal } from '../terminal.ts'
import { countHeld, heldInWords, removeWithProgress } from './removal.ts'
import { drawProgress, sweptInWords } from './sweep.ts'

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
    .option('--id <id>', 'its ID (default: random)')
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
    .description('rename an organisation; its ID does not change')
    .argument('<org>', 'its ID')
    .option('--name <name>', 'the new name')
    .option('--json', 'print one JSON object')
    .action((org: string, options: { name?: string; json?: true }) =>
      withStore(async (services) => {
        const name = await flagOrAnswer(terminal, options.name, '--name', 'New name of the organisation: ')
        const organisation = await renameOrganisation(services, org, name)
        if (options.json) terminal.print(JSON.stringify(toJson(organisation)))
        else terminal.print(`Renamed ${organisation.id} to "${organisation.name}".`)
      }),
    )

  addDeleteOrganisationCommand(orgs, kit)
  addSetPlanCommand(orgs, kit)
}

function toJson({ id, name, plan }: Organisation) {
  return { id, name, plan }
}

function addDeleteOrganisationCommand(orgs: Command, { terminal, withStore }: CommandKit): void {
  orgs
    .command('delete')
    .description('permanently delete an organisation with its trackers, keys and members')
    .argument('<org>', 'its ID')
    .option('--name <name>', 'the name of the organisation, to confirm without a question')
    .option('--json', 'print one JSON object')
    .action((id: string, options: { name?: string; json?: true }) =>
      withStore(async (services) => {
        const organisation = await requireDeletableOrganisation(services, id)
        const held = await countAll(services, id)
        terminal.tell(
          `The organisation "${organisation.name}" has ${inWords(held)}. All of this, with the daily totals, variables and variable tokens of its trackers, will be deleted permanently; its activity is kept.`,
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

/** What an organisation has, including trackers that are being deleted. */
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
  return `${counted(held.trackers, 'tracker')}, ${counted(held.keys, 'key')}, ${counted(held.members, 'member')}, ${heldInWords(held)}`
}

function addSetPlanCommand(orgs: Command, { terminal, withStore }: CommandKit): void {
  orgs
    .command('set-plan')
    .description("change an organisation's plan")
    .argument('<org>', 'its ID')
    .addArgument(new Argument('<plan>', 'the plan').choices(plans))
    .option('--yes', 'immediately delete data outside a shorter window, without a question')
    .option('--json', 'print one JSON object')
    .action((org: string, plan: Plan, options: { yes?: true; json?: true }) =>
      withStore(async (services) => {
        const { plan: before } = await requireOrganisation(services, org)
        const isShorter = services.retentionDays[plan] < services.retentionDays[before]
        const aged = isShorter
          ? await confirmShorterWindow(terminal, services, { org, before, plan }, options.yes)
          : null
        await setPlan(services, org, plan)
        const deleted = aged && options.yes ? await deleteNow(terminal, services, org, plan) : null
        const from = await deletionOf(services, org)
        const { id, name, plan: now } = await requireOrganisation(services, org)
        const retention = {
          days: services.retentionDays[now],
          aged,
          deletesFrom: formatInstantOrNull(from),
          deleted,
        }
        terminal.print(
          options.json
            ? JSON.stringify({ id, name, plan: now, retention })
            : `Moved ${id} to the plan ${now}.`,
        )
        if (deleted) terminal.tell(`Deleted ${sweptInWords(deleted)}.`)
        if (from === null) return
        terminal.tell(
          `Data older than ${retention.days} days is hidden and will be deleted at ${retention.deletesFrom}. Until then, lethe orgs set-plan ${id} ${before} restores it; lethe sweep --now deletes it immediately.`,
        )
      }),
    )
}

/** Says what a shorter window does not keep and, on a terminal, asks for confirmation. */
async function confirmShorterWindow(
  terminal: Terminal,
  services: ServicesWithoutSecrets,
  { org, before, plan }: { org: string; before: Plan; plan: Plan },
  yes?: true,
): Promise<SweptTotals> {
  const { retentionDays, clock } = services
  const starts = { visitors: windowStart(retentionDays, plan, clock()), activity: null }
  const aged = await countAged(services, org, starts)
  const windows = `The plan ${plan} keeps ${retentionDays[plan]} days; ${before} keeps ${retentionDays[before]}.`
  const when = yes ? 'will be deleted now' : 'will be hidden immediately and deleted a day later'
  terminal.tell(`${windows} ${sweptInWords(aged)} ${when}.`)
  if (yes) return aged
  const answer = await terminal.ask(`Type yes to move ${org} to the plan ${plan}: `)
  if (answer !== null && answer.trim() !== 'yes') {
    throw new LetheError('invalid_request', 'Not confirmed. Nothing was changed.')
  }
  return aged
}

/** Applies the shorter window immediately, unless the plan has changed in the meantime. */
async function deleteNow(
  terminal: Terminal,
  services: ServicesWithoutSecrets,
  organisationId: string,
  plan: Plan,
): Promise<SweptTotals> {
  const { retention, retentionDays, activityDays, clock, maintenance } = services
  const policy = { retentionDays, activityDays }
  return waitForMaintenanceLock(terminal, maintenance, async () => {
    const which = { organisationId, kind: 'visitors', plan } as const
    await retention.settleWindows({ policy, now: clock(), rule: 'immediately', ...which })
    return sweepAged(services, { organisationId, onProgress: drawProgress(terminal) })
  })
}

/** When a shorter window will delete data, at most a day from now; `null` if no window became shorter. */
async function deletionOf(
  { retention, retentionDays, activityDays, clock }: ServicesWithoutSecrets,
  organisationId: string,
): Promise<Instant | null> {
  const policy = { retentionDays, activityDays }
  const which = { organisationId, kind: 'visitors' } as const
  const [settled] = await retention.settleWindows({ policy, now: clock(), rule: 'grace', ...which })
  return settled?.window.shorter ? deletesFrom(settled.window.shorter) : null
}
