import { type Command, Option } from 'commander'
import { type ActivityEntry, type ActivityKind, activityKinds } from '../../domain/activity.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import { streamActivity } from '../../operations/activity.ts'
import { requireOrganisation } from '../../operations/organisation.ts'
import { type CommandKit, readInstantOption, readLimit } from '../command-kit.ts'
import { counted, legible } from '../progress.ts'
import { UsageError } from '../terminal.ts'

interface ActivityOptions {
  org: string
  since?: Instant
  until?: Instant
  kind?: ActivityKind[]
  actor?: string
  requestId?: string
  limit: number
  json?: true
}

export function addActivityCommand(program: Command, { terminal, withStore }: CommandKit): void {
  program
    .command('activity')
    .description('show who did what in an organisation, newest first')
    .requiredOption('--org <org>', 'the organisation')
    .option('--since <instant>', 'only entries at that time or later', readInstantOption)
    .option('--until <instant>', 'only entries before that time', readInstantOption)
    .addOption(new Option('--kind <kind...>', 'only entries of these kinds').choices(activityKinds))
    .option('--actor <actor>', 'only entries of this member or key, by name or ID, or command-line')
    .option('--request-id <id>', 'only entries of this request')
    .addOption(new Option('--limit <count>', 'the maximum number, or all').default(50).argParser(readLimit))
    .option('--json', 'print one JSON object per line')
    .action((options: ActivityOptions) =>
      withStore(async (services) => {
        const { org, kind: kinds, limit, json, ...range } = options
        if (range.since !== undefined && range.until !== undefined && range.since >= range.until)
          throw new UsageError('--since must be before --until.')
        const deleted = await services.deletions.listOrganisations()
        if (!deleted.some(({ id }) => id === org)) await requireOrganisation(services, org)
        const found = streamActivity(services, org, { ...range, ...(kinds && { kinds }) })
        let hasMore = false
        await terminal.pour(lines())
        if (hasMore) terminal.tell('More results exist. Use a larger --limit, or --limit all.')

        async function* lines(): AsyncGenerator<string> {
          let left = limit
          if (!json) yield line('AT', 'KIND', 'WHO', 'WHAT')
          for await (const entry of found) {
            hasMore = left-- === 0
            if (hasMore) return
            yield json ? `${JSON.stringify(toJson(entry))}\n` : activityRow(entry)
          }
        }
      }),
    )
}

/** An entry as a line for people. */
export function activityRow({ at, kind, actor, target, requestId, counts }: ActivityEntry): string {
  const what = [
    target,
    counts && `${counted(counts.sessions, 'session')}, ${counted(counts.events, 'event')}`,
    requestId && `request ${requestId}`,
  ]
  const who = actor.kind === 'command-line' ? actor.kind : actor.name
  return line(formatInstant(at), kind, legible(who), legible(what.filter(Boolean).join(' · ')))
}

/** Columns have fixed widths, so that a list of any length can be shown while it is read. */
function line(at: string, kind: string, who: string, what: string): string {
  const cells = [at.padEnd(24), kind.padEnd(longestKind), who.padEnd(24), what]
  return `${cells.join('  ').trimEnd()}\n`
}

const longestKind = Math.max(...activityKinds.map((kind) => kind.length))

function toJson({ id, at, kind, actor, target, requestId, counts, ledgerIndex }: ActivityEntry) {
  return { id, at: formatInstant(at), kind, actor, target, requestId, counts, ledgerIndex }
}
