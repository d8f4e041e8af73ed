import type { Command } from 'commander'

import { formatInstant } from '../../domain/instant.ts'
import { deletesFrom, startOfWindow, windowStart } from '../../domain/retention.ts'
import type { ServicesWithoutSecrets } from '../../domain/services.ts'
import {
  countAged,
  observeWindows,
  type SweptTotals,
  sweepAged,
  type WaitingWindow,
} from '../../maintenance/sweep.ts'
import { type CommandKit, waitForMaintenanceLock } from '../command-kit.ts'
import { counted, countsInWords } from '../progress.ts'
import { requireYes, type Terminal, UsageError } from '../terminal.ts'

export function addSweepCommand(program: Command, { terminal, withStore }: CommandKit): void {
  program
    .command('sweep')
    .description('delete expired data, as the service does every minute')
    .option('--now', 'also delete immediately what a shorter window would delete a day later')
    .option('--yes', 'confirm --now without a question')
    .option('--json', 'print what was deleted, and what is waiting, as one JSON object')
    .action(async (options: { now?: true; yes?: true; json?: true }) => {
      if (options.yes && !options.now) throw new UsageError('--yes requires --now.')
      return withStore(async (services) => {
        const confirmed = options.now ? await confirmNow(terminal, services, options.yes) : []
        const swept = await waitForMaintenanceLock(terminal, services.maintenance, async () => {
          for (const settling of confirmed) await services.retention.settleWindows(settling)
          const begunAt = services.clock()
          const total = await sweepAged(services, { onProgress: drawProgress(terminal) })
          await services.maintenance.noteSweep(begunAt)
          return total
        })
        const waiting = await findWaiting(services)
        terminal.print(
          options.json
            ? JSON.stringify({ ...swept, waiting: waiting.map(toJson) })
            : `Deleted ${sweptInWords(swept)}.`,
        )
        for (const each of waiting) if (!isNothing(each.aged)) terminal.tell(waitingInWords(each))
      })
    })
}

export function drawProgress(terminal: Terminal) {
  return ({ sessions, events }: SweptTotals): void => {
    if (terminal.columns() === null) return
    terminal.draw(`Sweeping: ${events} events and ${sessions} sessions so far`)
  }
}

/** Says how much will be deleted and asks. Returns the windows to settle, each for its current plan only. */
async function confirmNow(terminal: Terminal, services: ServicesWithoutSecrets, yes?: true) {
  const { organisations, retentionDays, activityDays, clock } = services
  const policy = { retentionDays, activityDays }
  const all = await organisations.list()
  const now = clock()
  for (const { id, plan } of all) {
    const starts = {
      visitors: windowStart(retentionDays, plan, now),
      activity: startOfWindow(activityDays, now),
    }
    const aged = await countAged(services, id, starts)
    if (isNothing(aged)) continue
    const ofActivity = aged.activity + aged.requests > 0 ? `, activity ${activityDays} days` : ''
    const kept = `${retentionDays[plan]} days${ofActivity}`
    terminal.tell(`${id}, on the plan ${plan} (${kept}): ${sweptInWords(aged)} will be deleted.`)
  }
  const question = 'This cannot be undone. Type yes to delete it now: '
  if (!yes) await requireYes(terminal, question, 'Not confirmed. Nothing was deleted.')
  return all.map(({ id, plan }) => ({
    ...{ policy, now: clock(), rule: 'immediately' as const },
    ...{ organisationId: id, plan },
  }))
}

interface Waiting {
  of: WaitingWindow
  /** The data outside the shorter window. */
  aged: SweptTotals
}

/** The windows that became shorter and do not delete anything yet. */
async function findWaiting(services: ServicesWithoutSecrets): Promise<Waiting[]> {
  const waiting: Waiting[] = []
  for (const of of await observeWindows(services)) {
    const start = startOfWindow(of.window.shorter.days, services.clock())
    const starts = { visitors: null, activity: null, [of.kind]: start }
    waiting.push({ of, aged: await countAged(services, of.organisationId, starts) })
  }
  return waiting
}

function waitingInWords({ of: { organisationId, plan, kind, window }, aged }: Waiting): string {
  const { days, since } = window.shorter
  const what = kind === 'activity' ? activityInWords(aged) : countsInWords(aged)
  const kept = kind === 'activity' ? `${days} days` : `the ${days} days of the plan ${plan}`
  const from = formatInstant(deletesFrom({ since }))
  return `${organisationId}: ${what} are older than ${kept}, a shorter window than before. They will be deleted at ${from}; lethe sweep --now deletes them immediately.`
}

function toJson({ of: { organisationId, plan, kind, window }, aged }: Waiting) {
  const { days: keptDays, shorter } = window
  const from = formatInstant(deletesFrom(shorter))
  return { orgId: organisationId, plan, kind, keptDays, days: shorter.days, deletesFrom: from, ...aged }
}

export function sweptInWords({ subjects, sessions, events, ...log }: SweptTotals): string {
  const visitors = `${counted(events, 'event')}, ${counted(sessions, 'session')} and ${counted(subjects, 'subject')} without remaining data`
  return log.activity + log.requests === 0 ? visitors : `${visitors}, and ${activityInWords(log)}`
}

function activityInWords({ activity, requests }: Pick<SweptTotals, 'activity' | 'requests'>): string {
  const entries = counted(activity, 'activity entry', 'activity entries')
  return requests === 0 ? entries : `${entries} and ${counted(requests, 'closed request')}`
}

function isNothing({ subjects, sessions, events, activity, requests }: SweptTotals): boolean {
  return subjects + sessions + events + activity + requests === 0
}
