import type { Command } from 'commander'
import type { CommandKit } from '../command-kit.ts'
import { sizeInWords } from '../progress.ts'
import { onStopSignal } from '../until-stopped.ts'
import { requestArgument } from './requests-read.ts'
import { writeWhole } from './whole-file.ts'
import { requestHint, withClient } from './with-client.ts'

interface ExportFlags {
  output: string
  json?: true
}

export function addRequestsExport(requests: Command, { terminal, config }: CommandKit): void {
  requests
    .command('export')
    .description('export everything stored about the person as a ZIP file that people can read')
    .addArgument(requestArgument())
    .requiredOption('--output <file>', 'the file to write, which must not exist')
    .option('--json', 'print one JSON object')
    .action((id: string, { output, json }: ExportFlags) => {
      const stop = new AbortController()
      const work = async () => {
        const stopping = onStopSignal({
          onFirst: (signal) => stop.abort(new Error(`Stopped by ${signal}; nothing was written.`)),
        })
        try {
          await withClient(
            config(),
            terminal,
            async (client) => {
              const bytes = await writeWhole(output, client.requests.export(id, { signal: stop.signal }))
              terminal.print(
                json ? JSON.stringify({ file: output, bytes }) : `Wrote ${output} (${sizeInWords(bytes)}).`,
              )
            },
            requestHint,
          )
        } finally {
          stopping.release()
        }
      }
      return work()
    })
}
