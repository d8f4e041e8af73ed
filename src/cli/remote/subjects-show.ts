import type { Subject } from '@lethe/client'
import type { Command } from 'commander'
import type { CommandKit } from '../command-kit.ts'
import { legible } from '../legible.ts'
import { table } from '../table.ts'
import { subjectArgument, trackerArgument } from './subject-arguments.ts'
import { withClient } from './with-client.ts'

export function addSubjectsShow(subjects: Command, { terminal, config }: CommandKit): void {
  subjects
    .command('show')
    .description('show what is stored about a data subject, its sessions and events as counts')
    .addArgument(trackerArgument())
    .addArgument(subjectArgument())
    .option('--json', 'print one JSON object')
    .action((tracker: string, subject: string, options: { json?: true }) =>
      withClient(config(), terminal, async (client) => {
        const record = await client.readSubject(tracker, subject)
        const lines = options.json ? [JSON.stringify(record)] : describeSubject(record)
        for (const line of lines) terminal.print(line)
      }),
    )
}

/** A record, one field a line. */
export function describeSubject({ subjectId, trackerId, counts, ...record }: Subject): string[] {
  const fields: [name: string, value: unknown][] = [
    ['Subject', subjectId],
    ['Tracker', trackerId],
    ['First seen', record.firstSeenAt],
    ['Last seen', record.lastSeenAt],
    ['Sessions', counts.sessions],
    ['Events', counts.events],
    ...record.identifiers.map(({ name, value }): [string, string] => [`Known by ${name}`, value]),
    ...Object.entries(record.attributes),
  ]
  const [, ...lines] = table(
    ['', ''],
    fields.map(([name, value]) => [
      legible(name),
      legible(typeof value === 'string' ? value : JSON.stringify(value)),
    ]),
  )
  return lines
}
