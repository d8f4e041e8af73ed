import type { Command } from 'commander'
import { LetheError } from '../domain/errors.ts'
import { importLines } from '../operations/import-lines.ts'
import type { CommandKit } from './command-kit.ts'
import { readLines } from './read-lines.ts'

interface ImportFlags {
  tracker?: string
  strict?: true
  json?: true
}

export function addImportCommand(program: Command, { terminal, withStore, fail }: CommandKit): void {
  program
    .command('import')
    .description('load sessions and events from NDJSON')
    .argument('<file...>', 'files to load, or - for standard input')
    .option('--tracker <id>', 'the tracker of lines that name none')
    .option('--strict', 'stop at the first bad line, with nothing of the running batch stored')
    .option('--json', 'print the summary as one JSON object')
    .action((files: string[], options: ImportFlags) =>
      withStore(async (workplace) => {
        if (options.tracker !== undefined && (await workplace.trackers.find(options.tracker)) === null) {
          throw new LetheError('not_found', `There is no tracker "${options.tracker}".`)
        }
        const total = { lines: 0, badLines: 0, subjects: 0, sessions: 0, events: 0 }
        for (const file of files) {
          const summary = await importLines(workplace, readLines(file), {
            ...(options.tracker !== undefined && { trackerId: options.tracker }),
            strict: options.strict ?? false,
            onBadLine: (number, reason) =>
              terminal.tell(`${file === '-' ? 'standard input' : file}:${number}: ${reason}`),
          })
          for (const name of ['lines', 'badLines', 'subjects', 'sessions', 'events'] as const) {
            total[name] += summary[name]
          }
          if (options.strict && total.badLines > 0) break
        }
        const { lines, badLines, subjects, sessions, events } = total
        if (options.json) terminal.print(JSON.stringify(total))
        else {
          terminal.print(
            `Read ${lines} lines (${badLines} bad); added ${subjects} subjects, ${sessions} sessions, ${events} events.`,
          )
        }
        if (badLines > 0) fail()
      }),
    )
}
