import type { Command } from 'commander'
import { LetheError } from '../../domain/errors.ts'
import { type Clock, dayMs, formatInstant } from '../../domain/instant.ts'
import { maxRetentionDays, plans, type RetentionDays } from '../../domain/retention.ts'
import { defaultMaxLineBytes, splitLines } from '../../domain/split-lines.ts'
import { importLines } from '../../operations/import.ts'
import { emptySummary, type IngestSummary, type LineBlock, type TooOldRows } from '../../operations/ingest.ts'
import type { CommandKit } from '../command-kit.ts'
import { cannotRead, InputFiles, sourceName, totalBytesOf } from '../input-files.ts'
import { addedInWords, counted, grouped, Progress, shareOf, workProgress } from '../progress.ts'
import type { Terminal } from '../terminal.ts'
import { keepMemorySmall, onStopSignal } from '../until-stopped.ts'

interface ImportFlags {
  tracker?: string
  strict?: true
  dryRun?: true
  json?: true
}

/** Limits the output for files with many bad lines. */
export const maxReportsPerFile = 100
const progressEveryMs = 250

export function addImportCommand(
  program: Command,
  { terminal, config, withSecretsAndThread, fail, summarise }: CommandKit,
): void {
  program
    .command('import')
    .description('import sessions and events from NDJSON, plain or compressed with gzip or zstd')
    .argument('<file...>', 'files to import, or - for standard input')
    .option('--tracker <id>', 'the tracker for lines without one')
    .option('--strict', 'stop at the first bad line and discard the current batch')
    .option('--dry-run', 'read and check everything, but store nothing')
    .option('--json', 'print the summary as one JSON object')
    .action((files: string[], options: ImportFlags) =>
      withSecretsAndThread(async (services) => {
        const { tracker, strict = false, dryRun = false } = options
        if (tracker !== undefined && (await services.trackers.find(tracker)) === null) {
          throw new LetheError('not_found', `There is no tracker "${tracker}".`)
        }
        const input = await ImportInput.open(files, config().maxLineBytes)
        keepMemorySmall()
        const summary = emptySummary()
        const view = workProgress(() => ({
          unit: 'lines',
          count: summary.lines,
          share: shareOf(input.bytesRead, input.totalBytes),
        }))
        const progress = new Progress(terminal, services.clock, { view })
        const ticking = setInterval(() => progress.tick(), progressEveryMs)
        let stoppedBy: NodeJS.Signals | null = null
        const stopping = onStopSignal({
          onFirst(signal) {
            stoppedBy = signal
            input.stop()
          },
        })
        try {
          await importLines(
            services,
            input.blocks(),
            {
              ...(tracker !== undefined && { trackerId: tracker }),
              strict,
              dryRun,
              onBadLine: badLineReports(terminal),
            },
            summary,
          )
          if (input.failure) throw input.failure
        } finally {
          stopping.release()
          clearInterval(ticking)
          progress.end()
          input.stop()
          if (options.json) summarise(toJson(summary, dryRun))
          else terminal.print(inWords(summary, dryRun))
          for (const rows of summary.tooOldRows) terminal.tell(tooOldInWords(rows, services))
        }
        if (stoppedBy !== null && input.wasCutShort) {
          throw new Error(`Stopped by ${stoppedBy} before the input ended. Run it again to complete it.`)
        }
        if (summary.badLines > 0) fail()
      }),
    )
}

function badLineReports({ tell }: Terminal) {
  const reported = new Map<string, number>()
  return (source: string, lineNumber: number, reason: string): void => {
    const count = (reported.get(source) ?? 0) + 1
    reported.set(source, count)
    if (count <= maxReportsPerFile) tell(`${source}:${lineNumber}: ${reason}`)
    else if (count === maxReportsPerFile + 1)
      tell(`${source}: further bad lines are counted but not reported`)
  }
}

function toJson({ tooOldRows, ...summary }: IngestSummary, dryRun: boolean) {
  return { ...summary, dryRun, tooOldRows: tooOldRows.map(tooOldJson) }
}

function inWords(summary: IngestSummary, dryRun: boolean): string {
  const { lines, badLines, tooOld, ofErased, rows, subjects, sessions, events } = summary
  const left = [`${grouped(badLines)} bad`]
  if (tooOld > 0) left.push(`${grouped(tooOld)} too old`)
  if (ofErased > 0) left.push(`${grouped(ofErased)} of erased subjects`)
  const read = `${counted(lines, 'line')} (${left.join(', ')})`
  return dryRun
    ? `Checked ${read}; ${grouped(rows)} would be stored. Nothing was stored.`
    : `Read ${read}; added ${addedInWords({ subjects, sessions, events })}.`
}

/** The files of an import as one sequence of blocks of lines. */
export class ImportInput extends InputFiles {
  /** The error that ended the sequence early. */
  failure: Error | null = null
  readonly #maxLineBytes: number
  #isOver = false

  constructor(files: readonly string[], totalBytes: number | null, maxLineBytes = defaultMaxLineBytes) {
    super(files, totalBytes)
    this.#maxLineBytes = maxLineBytes
  }

  static async open(files: readonly string[], maxLineBytes?: number): Promise<ImportInput> {
    return new ImportInput(files, await totalBytesOf(files), maxLineBytes)
  }

  /** Whether `stop` was called before the end. */
  get wasCutShort(): boolean {
    return this.isStopped && !this.#isOver
  }

  /** Ends with a `failure` instead of throwing, because the blocks before it are still valid. */
  async *blocks(): AsyncGenerator<LineBlock> {
    for (const file of this.files) {
      let number = 1
      try {
        for await (const lines of splitLines(this.read(file), this.#maxLineBytes)) {
          yield { source: sourceName(file), firstNumber: number, lines }
          number += lines.length
        }
      } catch (error) {
        if (!this.isStopped) this.failure = cannotRead(file, error)
        return
      }
    }
    this.#isOver = true
  }
}

/** Says which plan's window was too short for the imported lines, and how to keep them. */
function tooOldInWords(
  { organisationId, plan, days, rows, oldestAt }: TooOldRows,
  { retentionDays, clock }: { retentionDays: RetentionDays; clock: Clock },
): string {
  const are = rows === 1 ? '1 line is' : `${rows} lines are`
  const were = rows === 1 ? 'was' : 'were'
  const skipped = `${are} older than the ${days} days that the plan ${plan} keeps, and ${were} not stored.`
  // One more day, so that the lines are not too old again when they are imported.
  const needed = Math.ceil((clock() - oldestAt) / dayMs) + 1
  const it = rows === 1 ? 'it' : 'them'
  if (needed > maxRetentionDays) return `${skipped} No window is long enough to keep ${it}.`
  const other = plans.find((each) => retentionDays[each] >= needed)
  const move = other ? `lethe orgs set-plan ${organisationId} ${other}, or ` : ''
  return `${skipped} To keep ${it}: ${move}LETHE_RETENTION_DAYS=${plan}=${needed} for every command and the service; then import again.`
}

function tooOldJson({ organisationId, plan, days, rows, oldestAt }: TooOldRows) {
  return { orgId: organisationId, plan, days, rows, oldestAt: formatInstant(oldestAt) }
}
