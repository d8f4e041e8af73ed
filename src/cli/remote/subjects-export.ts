import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { FoundSubject, Identifier, LetheClient } from '@lethe/client'
import { type Command, Option } from 'commander'
import { formatInstant } from '../../domain/instant.ts'
import { exportFileName } from '../../domain/subject-export.ts'
import type { CommandKit } from '../command-kit.ts'
import { legible, sizeInWords } from '../progress.ts'
import { UsageError } from '../terminal.ts'
import { onStopSignal } from '../until-stopped.ts'
import { hiddenInWords, subjectArgument, trackerArgument } from './subjects-read.ts'
import { whenWhole, writeWhole } from './whole-file.ts'
import { byOption, withClient } from './with-client.ts'

interface ExportFlags {
  format: 'json' | 'ndjson'
  output?: string
  by?: Identifier
  json?: true
}

export function addSubjectsExport(subjects: Command, { terminal, config }: CommandKit): void {
  subjects
    .command('export')
    .description('export all data of a data subject or a person')
    .addArgument(trackerArgument('[tracker]'))
    .addArgument(subjectArgument('[subject]'))
    .addOption(byOption('export all data subjects of a person, in every tracker'))
    .addOption(
      new Option('--format <format>', 'one JSON object, or one object per line')
        .choices(['json', 'ndjson'])
        .default('json'),
    )
    .option(
      '--output <file>',
      'the file to write, which must not exist, or - for standard output (the default); with --by, a folder',
    )
    .option('--json', 'with --output: print a summary as one JSON object')
    .action((tracker: string | undefined, subject: string | undefined, options: ExportFlags) => {
      const { format, output, json, by } = options
      const settings = config()
      if (by ? tracker !== undefined || !output || output === '-' : subject === undefined)
        throw new UsageError(
          'Specify a tracker and a data subject, or a person with --by and a folder with --output.',
        )
      return withClient(settings, terminal, async (client) => {
        const stop = new AbortController()
        const stopping = onStopSignal({
          onFirst: (signal) => stop.abort(new Error(`Stopped by ${signal}; nothing was written.`)),
        })
        try {
          if (by && output) {
            const { signal } = stop
            const written = await exportPerson(client, by, { folder: output, format, signal }, terminal.tell)
            terminal.print(
              json ? JSON.stringify({ folder: output, subjects: written }) : inWords(written, output),
            )
            return
          }
          const { signal } = stop
          const pieces = client.exportSubject(tracker ?? '', subject ?? '', { signal })[format]()
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
      })
    })
}

function inWords(written: readonly { bytes: number }[], folder: string): string {
  const bytes = written.reduce((sum, each) => sum + each.bytes, 0)
  return `Wrote ${written.length} data subjects and index.json to ${folder} (${sizeInWords(bytes)}).`
}

interface WrittenExport extends FoundSubject {
  file: string
  bytes: number
}

/** Exports all data of a person to a folder: a file for each data subject, and last an index. */
async function exportPerson(
  client: LetheClient,
  identifier: Identifier,
  { folder, format, signal }: { folder: string; format: 'json' | 'ndjson'; signal: AbortSignal },
  tell: (line: string) => void,
): Promise<WrittenExport[]> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const searchedAt = formatInstant(Date.now())
  const written: WrittenExport[] = []
  let hiddenCount = 0
  for await (const { subjects, hidden = [] } of client
    .searchSubjects({ identifier }, {}, { signal })
    .pages()) {
    for (const found of subjects) {
      const { trackerId, subjectId } = found
      const file = exportFileName(trackerId, subjectId).replace(/json$/, format)
      const whole = client.exportSubject(trackerId, subjectId, { signal })
      const bytes = await writeWhole(join(folder, file), whole[format]())
      tell(`${legible(trackerId)} ${legible(subjectId)}: ${file}`)
      written.push({ ...found, file, bytes })
    }
    hiddenCount += hidden.length
  }
  for (const line of hiddenInWords(hiddenCount)) tell(line)
  const index = JSON.stringify({ identifier, searchedAt, subjects: written }, null, 2)
  await writeWhole(join(folder, 'index.json'), [`${index}\n`])
  return written
}
