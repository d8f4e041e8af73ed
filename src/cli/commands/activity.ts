import { type Command, Option } from 'commander'
import { type ActivityEntry, type ActivityKind, activityKinds } from '../../domain/activity.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import { streamActivity } from '../../operations/activity.ts'
import { requireOrganisation } from '../../operations/organisation.ts'
import { type CommandKit, readInstantOption, readLimit } from '../command-kit.ts'
import { legible } from '../progress.ts'
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
    .option('--since <instant>', 'only what happened then or later', readInstantOption)
    .option('--until <instant>', 'only what happened before', readInstantOption)
    .addOption(new Option('--kind <kind...>', 'only what is of one of these kinds').choices(activityKinds))
    .option('--actor <actor>', 'only what this member or key did, by name or id, or command-line')
    .option('--request-id <id>', 'only what this request did')
    .addOption(new Option('--limit <count>', 'how many at most, or all').default(50).argParser(readLimit))
    .option('--json', 'print one JSON object per line')
    .action((options: ActivityOptions) =>
      withStore(async (services) => {
        const { org, kind: kinds, limit, json, ...range } = options
        if (range.since !== undefined && range.until !== undefined && range.since >= range.until)
          throw new UsageError('--since must lie before --until.')
        const deleted = await services.deletions.listOrganisations()
        if (!deleted.some(({ id }) => id === org)) await requireOrganisation(services, org)
        const found = streamActivity(services, org, { ...range, ...(kinds && { kinds }) })
        let hasMore = false
        await terminal.pour(lines())
        if (hasMore) terminal.tell('There are more. Add --limit with a larger number, or --limit all.')

        async function* lines(): AsyncGenerator<string> {
          let left = limit
          if (!json) yield line('AT', 'KIND', 'WHO', 'WHAT')
          for await (const entry of found) {
            hasMore = left-- === 0
            if (hasMore) return
            yield json ? `${JSON.stringify(toJson(entry))}\n` : row(entry)
          }
        }
      }),
    )
}

function row({ at, kind, actor, target, requestId, counts }: ActivityEntry): string {
  const what = [
    target,
    counts && `${counts.sessions} sessions, ${counts.events} events`,
    requestId && `request ${requestId}`,
  ]
  const who = actor.kind === 'command-line' ? actor.kind : actor.name
  return line(formatInstant(at), kind, legible(who), legible(what.filter(Boolean).join(' · ')))
}

/** Columns of one width whatever comes later: a list of any length is shown as it is read. */
function line(at: string, kind: string, who: string, what: string): string {
  const cells = [at.padEnd(24), kind.padEnd(longestKind), who.padEnd(24), what]
  return `${cells.join('  ').trimEnd()}\n`
}

const longestKind = Math.max(...activityKinds.map((kind) => kind.length))

function toJson({ id, at, kind, actor, target, requestId, counts, ledgerIndex }: ActivityEntry) {
  return { id, at: formatInstant(at), kind, actor, target, requestId, counts, ledgerIndex }
}
