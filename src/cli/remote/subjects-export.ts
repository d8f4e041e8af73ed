import { type Command, Option } from 'commander'
import type { CommandKit } from '../command-kit.ts'
import { onStopSignal } from '../on-stop-signal.ts'
import { subjectArgument, trackerArgument } from './subject-arguments.ts'
import { whenWhole, writeWhole } from './whole-file.ts'
import { withClient } from './with-client.ts'

interface ExportFlags {
  format: 'json' | 'ndjson'
  output?: string
  json?: true
}

export function addSubjectsExport(subjects: Command, { terminal, config }: CommandKit): void {
  subjects
    .command('export')
    .description('export all that is stored about a data subject, whole or not at all')
    .addArgument(trackerArgument())
    .addArgument(subjectArgument())
    .addOption(
      new Option('--format <format>', 'one JSON object, or one per line')
        .choices(['json', 'ndjson'])
        .default('json'),
    )
    .option(
      '--output <file>',
      'the file to write, which must not exist, or - for standard output (the default)',
    )
    .option('--json', 'with --output: print what was written as one JSON object')
    .action((tracker: string, subject: string, options: ExportFlags) =>
      withClient(config(), terminal, async (client) => {
        const { format, output, json } = options
        const stop = new AbortController()
        const stopping = onStopSignal({
          onFirst: (signal) => stop.abort(new Error(`Stopped by ${signal}; nothing was written.`)),
        })
        try {
          const pieces = client.exportSubject(tracker, subject, { signal: stop.signal })[format]()
          if (output === undefined || output === '-') {
            await whenWhole(pieces, terminal.pour)
            return
          }
          const bytes = await writeWhole(output, pieces)
          terminal.print(
            json ? JSON.stringify({ file: output, bytes }) : `Wrote ${output} (${sizeInWords(bytes)}).`,
          )
        } finally {
          stopping.release()
        }
      }),
    )
}

function sizeInWords(bytes: number): string {
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`
}
