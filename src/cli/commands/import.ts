import type { Command } from 'commander'
import { LetheError } from '../../domain/errors.ts'
import { emptySummary, type ImportSummary, importLines } from '../../operations/import/import-lines.ts'
import type { CommandKit } from '../command-kit.ts'
import { onStopSignal } from '../on-stop-signal.ts'
import { Progress, shareOf, workProgress } from '../progress.ts'
import type { Terminal } from '../terminal.ts'
import { keepMemorySmall } from '../v8-settings.ts'
import { ImportInput } from './import-input.ts'
import { tooOldInWords, tooOldJson } from './too-old.ts'

interface ImportFlags {
  tracker?: string
  strict?: true
  dryRun?: true
  json?: true
}

/** A terminal full of bad lines helps nobody. */
export const maxReportsPerFile = 100
const progressEveryMs = 250

export function addImportCommand(
  program: Command,
  { terminal, config, withSecretsAndThread, fail, summarise }: CommandKit,
): void {
  program
    .command('import')
    .description('load sessions and events from NDJSON, plain or compressed with gzip or zstd')
    .argument('<file...>', 'files to load, or - for standard input')
    .option('--tracker <id>', 'the tracker of lines that name none')
    .option('--strict', 'stop at the first bad line, with nothing of the running batch stored')
    .option('--dry-run', 'read and check everything, and store nothing')
    .option('--json', 'print the summary as one JSON object')
    .action((files: string[], options: ImportFlags) =>
      withSecretsAndThread(async (services) => {
        const { tracker, strict = false, dryRun = false } = options
        if (tracker !== undefined && (await services.trackers.find(tracker)) === null) {
          throw new LetheError('not_found', `There is no tracker "${tracker}".`)
        }
        const input = await ImportInput.open(files, config().maxLineBytes)
        const collectGarbage = keepMemorySmall()
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
              // By the next turn of the event loop nothing here refers to the rows any more.
              onHandedOver: () => setImmediate(collectGarbage),
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
          throw new Error(`Stopped by ${stoppedBy} before the input ended. Running it again completes it.`)
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
    else if (count === maxReportsPerFile + 1) tell(`${source}: further bad lines are counted, not reported`)
  }
}

function toJson({ tooOldRows, ...summary }: ImportSummary, dryRun: boolean) {
  return { ...summary, dryRun, tooOldRows: tooOldRows.map(tooOldJson) }
}

function inWords(summary: ImportSummary, dryRun: boolean): string {
  const { lines, badLines, tooOld, ofErased, rows, subjects, sessions, events } = summary
  const left = [`${badLines} bad`]
  if (tooOld > 0) left.push(`${tooOld} too old`)
  if (ofErased > 0) left.push(`${ofErased} of erased subjects`)
  const read = `${lines} lines (${left.join(', ')})`
  return dryRun
    ? `Checked ${read}; ${rows} would be stored, nothing was.`
    : `Read ${read}; added ${subjects} subjects, ${sessions} sessions, ${events} events.`
}
