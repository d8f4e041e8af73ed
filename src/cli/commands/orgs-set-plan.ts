import { Argument, type Command } from 'commander'
import { LetheError } from '../../domain/errors.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import { type Plan, plans, windowStart } from '../../domain/plan.ts'
import { deletesFrom } from '../../domain/retention-window.ts'
import type { ServicesWithoutSecrets } from '../../domain/services.ts'
import { countAged } from '../../maintenance/count-aged.ts'
import { type SweptTotals, sweepAged } from '../../maintenance/sweep-aged.ts'
import { requireOrganisation } from '../../operations/organisation/require-organisation.ts'
import { setPlan } from '../../operations/organisation/set-plan.ts'
import type { CommandKit } from '../command-kit.ts'
import type { Terminal } from '../terminal.ts'
import { whenAlone } from '../when-alone.ts'
import { drawProgress } from './sweep.ts'
import { sweptInWords } from './swept-words.ts'

export function addSetPlanCommand(orgs: Command, { terminal, withStore }: CommandKit): void {
  orgs
    .command('set-plan')
    .description("change an organisation's plan")
    .argument('<org>', 'its id')
    .addArgument(new Argument('<plan>', 'the plan').choices(plans))
    .option('--yes', 'immediately delete what a plan with a shorter window does not keep, without a question')
    .option('--json', 'print one JSON object')
    .action((org: string, plan: Plan, options: { yes?: true; json?: true }) =>
      withStore(async (services) => {
        const { plan: before } = await requireOrganisation(services, org)
        const isShorter = services.retentionDays[plan] < services.retentionDays[before]
        const aged = isShorter ? await weigh(terminal, services, { org, before, plan }, options.yes) : null
        await setPlan(services, org, plan)
        const deleted = aged && options.yes ? await deleteNow(terminal, services, org, plan) : null
        const from = await deletionOf(services, org)
        const { id, name, plan: now } = await requireOrganisation(services, org)
        const retention = {
          days: services.retentionDays[now],
          aged,
          deletesFrom: from === null ? null : formatInstant(from),
          deleted,
        }
        terminal.print(
          options.json
            ? JSON.stringify({ id, name, plan: now, retention })
            : `${id} is on the plan ${now} now.`,
        )
        if (deleted) terminal.tell(`Deleted ${sweptInWords(deleted)}.`)
        if (from === null) return
        terminal.tell(
          `What is older than ${retention.days} days is hidden, and deleted from ${retention.deletesFrom} on. Until then, lethe orgs set-plan ${id} ${before} brings it back; lethe sweep --now deletes it immediately.`,
        )
      }),
    )
}

/** Says what a plan with a shorter window does not keep, and asks where somebody can answer. */
async function weigh(
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
    throw new LetheError('invalid_request', 'Not confirmed; nothing was changed.')
  }
  return aged
}

/** Lets the shorter window delete immediately, unless the plan has become another one meanwhile. */
async function deleteNow(
  terminal: Terminal,
  services: ServicesWithoutSecrets,
  organisationId: string,
  plan: Plan,
): Promise<SweptTotals> {
  const { retention, retentionDays, activityDays, clock, maintenance } = services
  const policy = { retentionDays, activityDays }
  return whenAlone(terminal, maintenance, async () => {
    const which = { organisationId, kind: 'visitors', plan } as const
    await retention.settleWindows({ policy, now: clock(), rule: 'immediately', ...which })
    return sweepAged(services, { organisationId, onProgress: drawProgress(terminal) })
  })
}

/** From when on a shorter window deletes, which waits from now on at the latest; `null` when none does. */
async function deletionOf(
  { retention, retentionDays, activityDays, clock }: ServicesWithoutSecrets,
  organisationId: string,
): Promise<Instant | null> {
  const policy = { retentionDays, activityDays }
  const which = { organisationId, kind: 'visitors' } as const
  const [settled] = await retention.settleWindows({ policy, now: clock(), rule: 'grace', ...which })
  return settled?.window.shorter ? deletesFrom(settled.window.shorter) : null
}
