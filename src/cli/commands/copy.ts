import { resolve } from 'node:path'
import type { Command } from 'commander'
import { type Config, readStoreAddress } from '../../config.ts'
import { formatInstant } from '../../domain/instant.ts'
import type { ScrubState } from '../../domain/maintenance.ts'
import type { Replayed } from '../../domain/replay.ts'
import { type CopyResult, copyStore } from '../../operations/store/copy-store.ts'
import { type Verification, verifyCopy } from '../../operations/store/verify-copy.ts'
import { replayInto, secretFileOf } from '../../services.ts'
import type { CommandKit } from '../command-kit.ts'
import { table } from '../table.ts'
import { UsageError } from '../usage-error.ts'
import { whenAlone } from '../when-alone.ts'
import { withCopyProgress } from './copy-progress.ts'
import { failOnProblems, journalsOf, unreadableReports } from './journal.ts'
import { replayedInWords } from './replayed-words.ts'

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
    .option('--verify-only', 'compare the two, and write nothing')
    .option('--json', 'print one JSON object')
    .action(async (flags: CopyFlags) => {
      const settings = kit.config()
      const from = readStoreAddress('--from', flags.from)
      const to = readStoreAddress('--to', flags.to)
      if (placeOf(from) === placeOf(to)) throw new UsageError('--from and --to name the same store.')
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
          return whenAlone(terminal, target.maintenance, async () => {
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
        terminal.tell(
          `The target belongs to the same secret: bring it along as ${secretFileOf(settings, to)}.`,
        )
      }
      if (result.replayed) failOnProblems(result.replayed)
      if (different.length > 0) throw new Error(`The two stores differ: ${different.join(', ')}. ${whatToDo}`)
    })
}

const whatToDo = 'Stop whatever uses them, empty the target and copy again.'

/** Where a store is: the same for one file, however its path is written. */
function placeOf(address: Config['store']): string {
  return address.engine === 'sqlite' ? resolve(address.path) : address.url
}

/** The names of what is not the same in both. */
function differences({ tables, scrub }: Verification): string[] {
  const names = tables.filter(({ isSame }) => !isSame).map(({ table }) => table)
  return scrub.isSame ? names : [...names, 'whether a scrub is due']
}

/** A copy, and what a journal knew better than the source. */
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
  const verdict = different.length === 0 ? 'both stores hold the same' : 'the stores differ'
  return [
    ...table(['TABLE', 'SOURCE ROWS', 'TARGET ROWS', 'CHECKSUM'], rows),
    `${copied}; ${verdict}.`,
    ...(replayed ? replayedInWords(replayed) : []),
  ]
}
