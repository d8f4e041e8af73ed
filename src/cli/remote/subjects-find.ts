import type { FoundSubject, Identifier } from '@lethe/client'
import { Argument, type Command, Option } from 'commander'
import type { CommandKit } from '../command-kit.ts'
import { counted } from '../counted.ts'
import { legible } from '../legible.ts'
import { table } from '../table.ts'
import { UsageError } from '../usage-error.ts'
import { readIdentifier } from './identifier-argument.ts'
import { readId } from './subject-arguments.ts'
import { summaryCells, summaryHeadings } from './summary-table.ts'
import { withClient } from './with-client.ts'

interface FindFlags {
  subject?: string
  json?: true
}

export function addSubjectsFind(subjects: Command, { terminal, config }: CommandKit): void {
  subjects
    .command('find')
    .description('find the data subjects of a person in all trackers, by what they are known by or by an id')
    .addArgument(
      new Argument('[identifier]', 'what they are known by, such as email=ada@example.com').argParser(
        readIdentifier,
      ),
    )
    .addOption(new Option('--subject <id>', 'those with this id instead').argParser(readId))
    .option('--json', 'print one JSON object per line')
    .action((identifier: Identifier | undefined, { subject, json }: FindFlags) => {
      const settings = config()
      const sought = identifier ? { identifier } : subject !== undefined ? { subjectId: subject } : null
      if (sought === null || (identifier && subject !== undefined))
        throw new UsageError('Say whom to find: name=value, or an id with --subject.')
      return withClient(settings, terminal, async (client) => {
        let isFirst = true
        let hiddenCount = 0
        for await (const { subjects, hidden = [] } of client.searchSubjects(sought).pages()) {
          const lines = json ? subjects.map((each) => JSON.stringify(each)) : foundTable(subjects, isFirst)
          for (const line of lines) terminal.print(line)
          isFirst = false
          hiddenCount += hidden.length
        }
        for (const line of hiddenInWords(hiddenCount)) terminal.tell(line)
      })
    })
}

/** What people are told of data subjects that a search names and does not show; nothing where there are none. */
export function hiddenInWords(count: number): string[] {
  if (count === 0) return []
  const which =
    count === 1 ? 'data subject of this person, which is' : 'data subjects of this person, which are'
  return [
    `A shorter plan hides ${counted(count, which, which)} still stored and would be shown again with a longer plan. "lethe subjects erase --by" erases hidden data too.`,
  ]
}

/** What was found, as a table: by tracker. */
export function foundTable(found: readonly FoundSubject[], withHeadings = true): string[] {
  const nameOf = ({ trackerId, subjectId }: FoundSubject) => `${trackerId}\0${subjectId}`
  const byTracker = found.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  const lines = table(
    ['TRACKER', ...summaryHeadings],
    byTracker.map((subject) => [legible(subject.trackerId), ...summaryCells(subject)]),
  )
  return withHeadings ? lines : lines.slice(1)
}
