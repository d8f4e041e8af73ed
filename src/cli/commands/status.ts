import type { Command } from 'commander'
import { formatInstant, formatInstantOrNull } from '../../domain/instant.ts'
import { readStatus, type Status } from '../../operations/store-status.ts'
import { isLimiterReachable, storeStatus } from '../../start.ts'
import type { CommandKit } from '../command-kit.ts'
import { legible, megabytes, table } from '../progress.ts'

export function addStatusCommand(program: Command, { terminal, config, fail }: CommandKit): void {
  program
    .command('status')
    .description('show the state of the store and the limiter, without changing anything')
    .option('--json', 'print one JSON object')
    .action(async (options: { json?: true }) => {
      const settings = config()
      const status = await readStatus({
        ...storeStatus(settings),
        limiterEngine: settings.limiter.engine,
        isLimiterReachable: () => isLimiterReachable(settings),
        retentionDays: settings.retentionDays,
      })
      const versions = { version: program.version() ?? '', node: process.versions.node }
      if (options.json) terminal.print(JSON.stringify(toJson(status, versions)))
      else for (const line of lines(status, versions)) terminal.print(line)
      if (status.store.problem !== null) fail()
    })
}

interface Versions {
  version: string
  node: string
}

/** For a store that does not respond, everything but its place and the problem is null. */
function toJson({ store, found, limiter }: Status, versions: Versions) {
  const scrub = found?.scrub ?? null
  return {
    ...versions,
    store: { place: store.place, engine: found?.engine ?? null, problem: store.problem },
    migrations: found && { ...found.migrations, pending: pendingOf(found.migrations) },
    organisations: found?.organisations ?? null,
    bytes: found?.bytes ?? null,
    rows: found?.rows ?? null,
    estimatedRows: found?.estimatedRows ?? null,
    lastSweepAt: formatInstantOrNull(found?.sweptAt ?? null),
    lastScrubAt: formatInstantOrNull(scrub?.lastAt ?? null),
    isScrubDue: scrub?.isDue ?? null,
    limiter,
  }
}

function* lines({ store, found, limiter }: Status, { version, node }: Versions): Generator<string> {
  const facts: [string, string][] = [['Lethe', `${version}, on Node ${node}`]]
  facts.push(['Store', found ? `${found.engine} at ${store.place}` : store.place])
  if (store.problem !== null) facts.push(['Problem', store.problem])
  if (found) {
    const { migrations, bytes, rows, estimatedRows, sweptAt, scrub } = found
    facts.push(['Migrations', migrationLine(migrations)])
    facts.push(['Size', listed(bytes, megabytes)])
    facts.push(['Rows', rows ? listed(rows, String) : 'unknown'])
    if (estimatedRows) facts.push(['', `about ${listed(estimatedRows, String) || 'unknown'}`])
    facts.push(['Last sweep', formatInstantOrNull(sweptAt) ?? 'none on record'])
    const due = scrub?.isDue ? 'due, because data was deleted since' : 'no data was deleted since'
    facts.push(['Last scrub', scrub ? `${formatInstant(scrub.lastAt)}; ${due}` : 'unknown'])
  }
  facts.push(['Limiter', limiterLine(limiter)])
  for (const [name, value] of facts) yield `${name.padEnd(10)}  ${legible(value)}`
  if (!found?.organisations?.length) return
  yield ''
  yield* table(
    ['ORGANISATION', 'NAME', 'PLAN', 'KEEPS'],
    found.organisations.map(({ id, name, plan, retentionDays }) => [
      ...[legible(id), legible(name), legible(plan)],
      retentionDays === null ? 'unknown' : `${retentionDays} days`,
    ]),
  )
}

type Migrations = NonNullable<Status['found']>['migrations']

function pendingOf({ applied, known }: Migrations): number {
  return Math.max(0, known - applied)
}

function migrationLine({ applied, known }: Migrations): string {
  if (applied > known)
    return `${applied}, but this version knows only ${known}: it is older than the store and cannot open it`
  const pending = pendingOf({ applied, known })
  return pending === 0
    ? `${applied}, all applied`
    : `${applied} of ${known}; the next start applies ${pending}`
}

function limiterLine({ engine, isReachable }: Status['limiter']): string {
  if (engine === 'memory') return 'memory, separate for each process'
  return isReachable ? 'redis' : 'redis, unreachable: each process counts in its memory'
}

function listed(amounts: Record<string, number>, shown: (amount: number) => string): string {
  return Object.entries(amounts)
    .map(([what, amount]) => `${shown(amount)} ${what}`)
    .join(', ')
}
