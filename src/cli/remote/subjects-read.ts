import {
  type FoundSubject,
  type Identifier,
  isIdentifier,
  type ListSubjectsQuery,
  type Subject,
  type SubjectSummary,
} from '@lethe/client'
import { Argument, type Command, InvalidArgumentError, Option } from 'commander'
import { identifierRule } from '../../domain/identifier.ts'
import { instantRule, parseInstant } from '../../domain/instant.ts'
import { maxPageSize } from '../../domain/page.ts'
import { subjectSorts } from '../../domain/subject.ts'
import { type CommandKit, readLimit } from '../command-kit.ts'
import { counted, legible, table } from '../progress.ts'
import { UsageError } from '../terminal.ts'
import { readIdentifier, withClient } from './with-client.ts'

interface ListFlags {
  sort?: ListSubjectsQuery['sort']
  prefix?: string
  seenAfter?: string
  seenBefore?: string
  limit: number
  json?: true
}

export function addSubjectsList(subjects: Command, { terminal, config }: CommandKit): void {
  subjects
    .command('list')
    .description('list the data subjects of a tracker')
    .addArgument(trackerArgument())
    .addOption(
      new Option('--sort <order>', 'the order (default: subjectId, or lastSeenAt with --seen-…)').choices(
        subjectSorts,
      ),
    )
    .option('--prefix <text>', 'only those whose ID starts with this text')
    .option('--seen-after <instant>', 'only those last seen at that time or later', readInstantFlag)
    .option('--seen-before <instant>', 'only those last seen before that time', readInstantFlag)
    .addOption(new Option('--limit <count>', 'the maximum number, or all').default(50).argParser(readLimit))
    .option('--json', 'print one JSON object per line')
    .action((tracker: string, options: ListFlags) =>
      withClient(config(), terminal, async (client) => {
        let left = options.limit
        const { sort, prefix, seenAfter, seenBefore } = options
        const query = { sort, subjectIdPrefix: prefix, lastSeenAfter: seenAfter, lastSeenBefore: seenBefore }
        const pages = client.listSubjects(tracker, { ...query, limit: Math.min(left, maxPageSize) }).pages()
        let isFirst = true
        for await (const page of pages) {
          const shown = page.subjects.slice(0, left)
          left -= shown.length
          const lines = options.json ? shown.map((each) => JSON.stringify(each)) : rows(shown, isFirst)
          for (const line of lines) terminal.print(line)
          isFirst = false
          if (left > 0) continue
          if (page.nextCursor !== null || shown.length < page.subjects.length) {
            terminal.tell('More results exist. Use a larger --limit, or --limit all.')
          }
          return
        }
      }),
    )
}

/** A page of the table. Lists are printed page by page, so that they need little memory. */
function rows(subjects: readonly SubjectSummary[], withHeadings: boolean): string[] {
  const lines = table(summaryHeadings, subjects.map(summaryCells))
  return withHeadings ? lines : lines.slice(1)
}

export function readInstantFlag(text: string): string {
  if (parseInstant(text) === null) throw new InvalidArgumentError(`Expected ${instantRule}.`)
  return text
}

export function addSubjectsShow(subjects: Command, { terminal, config }: CommandKit): void {
  subjects
    .command('show')
    .description('show the record of a data subject, with the number of its sessions and events')
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

/** A record, one field per line. */
export function describeSubject({ subjectId, trackerId, counts, ...record }: Subject): string[] {
  const fields: [name: string, value: unknown][] = [
    ['Subject', subjectId],
    ['Tracker', trackerId],
    ['First seen', record.firstSeenAt],
    ['Last seen', record.lastSeenAt],
    ['Sessions', counts.sessions],
    ['Events', counts.events],
    ...record.identifiers.map(({ name, value }): [string, string] => [`Identifier ${name}`, value]),
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

interface FindFlags {
  subject?: string
  json?: true
}

export function addSubjectsFind(subjects: Command, { terminal, config }: CommandKit): void {
  subjects
    .command('find')
    .description("find a person's data subjects in all trackers, by identifier or by ID")
    .addArgument(
      new Argument('[identifier]', 'an identifier, such as email=ada@example.com').argParser(readIdentifier),
    )
    .addOption(new Option('--subject <id>', 'search by this ID instead').argParser(readId))
    .option('--json', 'print one JSON object per line')
    .action((identifier: Identifier | undefined, { subject, json }: FindFlags) => {
      const settings = config()
      const sought = identifier ? { identifier } : subject !== undefined ? { subjectId: subject } : null
      if (sought === null || (identifier && subject !== undefined))
        throw new UsageError('Specify an identifier as name=value, or an ID with --subject.')
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

/** Says how many data subjects a search found but does not show; nothing if there are none. */
export function hiddenInWords(count: number): string[] {
  if (count === 0) return []
  return [
    `A shorter plan hides ${counted(count, 'data subject')} of this person. Hidden data is still stored, and lethe subjects erase --by erases it too.`,
  ]
}

/** A table of the results, sorted by tracker. */
export function foundTable(found: readonly FoundSubject[], withHeadings = true): string[] {
  const nameOf = ({ trackerId, subjectId }: FoundSubject) => `${trackerId}\0${subjectId}`
  const byTracker = found.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  const lines = table(
    ['TRACKER', ...summaryHeadings],
    byTracker.map((subject) => [legible(subject.trackerId), ...summaryCells(subject)]),
  )
  return withHeadings ? lines : lines.slice(1)
}

const summaryHeadings = ['SUBJECT', 'FIRST SEEN', 'LAST SEEN', 'SESSIONS', 'EVENTS']

function summaryCells({ subjectId, firstSeenAt, lastSeenAt, counts }: SubjectSummary): string[] {
  return [legible(subjectId), firstSeenAt, lastSeenAt, String(counts.sessions), String(counts.events)]
}

export function trackerArgument(name = '<tracker>'): Argument {
  return new Argument(name, 'the ID of the tracker').argParser(readId)
}

export function subjectArgument(name = '<subject>'): Argument {
  return new Argument(name, 'the ID of the data subject').argParser(readId)
}

export function readId(text: string): string {
  if (!isIdentifier(text)) throw new InvalidArgumentError(`An ID has ${identifierRule}.`)
  return text
}
