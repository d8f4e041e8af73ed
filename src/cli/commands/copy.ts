import { resolve } from 'node:path'
import type { Command } from 'commander'
import { type Config, readStoreAddress } from '../../config.ts'
import { type Clock, formatInstant } from '../../domain/instant.ts'
import type { ScrubState } from '../../domain/maintenance.ts'
import type { Replayed } from '../../domain/replay.ts'
import { type CopyResult, type CopyStep, copyStore, countRows } from '../../operations/copy-store.ts'
import { type CopyEnds, type Verification, verifyCopy } from '../../operations/verify-copy.ts'
import { replayInto, secretFileOf } from '../../runtime/restore.ts'
import { type CommandKit, waitForMaintenanceLock } from '../command-kit.ts'
import { Progress, shareOf, table, workProgress } from '../progress.ts'
import { type Terminal, UsageError } from '../terminal.ts'
import { onStopSignal } from '../until-stopped.ts'
import { failOnProblems, journalsOf, replayedInWords, unreadableReports } from './journal.ts'

interface CopyFlags {
  from: string
  to: string
  verifyOnly?: true
  json?: true
}

export function addCopyCommand(program: Command, kit: CommandKit): void {
  const { terminal } = kit
  program
    .command('copy')
    .description('copy everything from one store to another, and compare the two')
    .requiredOption('--from <url>', 'the store to copy, such as sqlite:data/lethe.db')
    .requiredOption('--to <url>', 'the store to fill, such as postgres://lethe@db.example/lethe')
    .option('--verify-only', 'compare the two, but write nothing')
    .option('--json', 'print one JSON object')
    .action(async (flags: CopyFlags) => {
      const settings = kit.config()
      const from = readStoreAddress('--from', flags.from)
      const to = readStoreAddress('--to', flags.to)
      if (locationOf(from) === locationOf(to)) throw new UsageError('--from and --to name the same store.')
      const verifyOnly = flags.verifyOnly ?? false
      const result: Copied = await kit.withStoreAt(from, { create: false }, (source) =>
        kit.withStoreAt(to, { create: !verifyOnly }, (target) => {
          const ends = { source, target }
          if (verifyOnly) {
            return withCopyProgress(terminal, ends, { verifyOnly }, async ({ signal, onRows }) => {
              const options = { signal, onRows: (count: number) => onRows('verifying', count) }
              return { copiedRows: 0, verification: await verifyCopy(ends, options) }
            })
          }
          return waitForMaintenanceLock(terminal, target.maintenance, async () => {
            const copied = await withCopyProgress(terminal, ends, { verifyOnly }, (options) =>
              copyStore(ends, options),
            )
            const journals = journalsOf(terminal, undefined, settings)
            if (journals.length === 0 || differences(copied.verification).length > 0) return copied
            const work = { from, target, journals }
            const replayed = await replayInto(settings, work, unreadableReports(terminal))
            return { ...copied, replayed }
          })
        }),
      )
      const different = differences(result.verification)
      if (flags.json) kit.summarise(toJson(result, different))
      else for (const line of inWords(result, different)) terminal.print(line)
      if (!verifyOnly && different.length === 0) {
        const [source, target] = [from, to].map((store) => resolve(secretFileOf(settings, store)))
        terminal.tell(
          source === target
            ? `Both stores use the secret at ${target}.`
            : `The target uses the same secret. Copy the secret to ${target}.`,
        )
      }
      if (result.replayed) failOnProblems(result.replayed)
      if (different.length > 0) throw new Error(`The two stores differ: ${different.join(', ')}. ${whatToDo}`)
    })
}

const whatToDo = 'Stop all processes that use them, empty the target and copy again.'

/** Where a store is: the same for one file, regardless of how its path is written. */
function locationOf(address: Config['store']): string {
  return address.engine === 'sqlite' ? resolve(address.path) : address.url
}

/** The names of the tables and states that differ. */
function differences({ tables, scrub }: Verification): string[] {
  const names = tables.filter(({ isSame }) => !isSame).map(({ table }) => table)
  return scrub.isSame ? names : [...names, 'whether a scrub is due']
}

/** A copy, and what was replayed from the journal. */
type Copied = CopyResult & { replayed?: Replayed }

function toJson(
  { copiedRows, verification: { tables, scrub }, replayed }: Copied,
  different: readonly string[],
) {
  const stateOf = ({ lastAt, isDue }: ScrubState) => ({ lastAt: formatInstant(lastAt), isDue })
  return {
    isSame: different.length === 0,
    copiedRows,
    tables,
    scrub: { source: stateOf(scrub.source), target: stateOf(scrub.target), isSame: scrub.isSame },
    ...(replayed && { replayed }),
  }
}

function inWords(
  { copiedRows, verification: { tables }, replayed }: Copied,
  different: readonly string[],
): string[] {
  const rows = tables.map(({ table, source, target, isSame }) => [
    table,
    String(source.rows),
    String(target.rows),
    isSame
      ? source.checksum.slice(0, 16)
      : `${source.checksum.slice(0, 16)} is not ${target.checksum.slice(0, 16)}`,
  ])
  const copied = copiedRows === 0 ? 'Nothing was copied' : `Copied ${copiedRows} rows`
  const verdict = different.length === 0 ? 'both stores are identical' : 'the stores differ'
  return [
    ...table(['TABLE', 'SOURCE ROWS', 'TARGET ROWS', 'CHECKSUM'], rows),
    `${copied}; ${verdict}.`,
    ...(replayed ? replayedInWords(replayed) : []),
  ]
}

const progressEveryMs = 250

/** Runs `work` between two stores with a progress display, and aborts it on a signal. */
async function withCopyProgress<Result>(
  terminal: Terminal,
  { source, target }: CopyEnds & { source: { clock: Clock } },
  { verifyOnly }: { verifyOnly: boolean },
  work: (options: Parameters<typeof copyStore>[1]) => Promise<Result>,
): Promise<Result> {
  const sourceRows = await countRows(source.transfer)
  const targetRows = await countRows(target.transfer)
  const totals: Record<CopyStep, number> = {
    comparing: targetRows,
    copying: sourceRows - targetRows,
    verifying: sourceRows + (verifyOnly ? targetRows : sourceRows),
  }
  let step: CopyStep = verifyOnly ? 'verifying' : 'comparing'
  let count = 0
  const view = workProgress(() => ({ step, unit: 'rows', count, share: shareOf(count, totals[step]) }))
  const progress = new Progress(terminal, source.clock, { view })
  const ticking = setInterval(() => progress.tick(), progressEveryMs)
  const stopping = new AbortController()
  const signals = onStopSignal({
    onFirst: (signal) => stopping.abort(new Error(`Stopped by ${signal}. ${outlook(verifyOnly)}`)),
  })
  try {
    return await work({
      signal: stopping.signal,
      onRows(current, rows) {
        count = current === step ? count + rows : rows
        step = current
      },
    })
  } finally {
    signals.release()
    clearInterval(ticking)
    progress.end()
  }
}

function outlook(verifyOnly: boolean): string {
  return verifyOnly ? 'The comparison is incomplete.' : 'Run it again to continue.'
}
