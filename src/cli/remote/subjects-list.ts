import type { ListSubjectsQuery, SubjectSummary } from '@lethe/client'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { instantRule, parseInstant } from '../../domain/instant.ts'
import { maxPageSize } from '../../domain/page.ts'
import { subjectSorts } from '../../domain/subject.ts'
import type { CommandKit } from '../command-kit.ts'
import { readLimit } from '../option-values.ts'
import { table } from '../table.ts'
import { trackerArgument } from './subject-arguments.ts'
import { summaryCells, summaryHeadings } from './summary-table.ts'
import { withClient } from './with-client.ts'

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
    .option('--prefix <text>', 'only those whose id starts so')
    .option('--seen-after <instant>', 'only those last seen then or later', readInstantFlag)
    .option('--seen-before <instant>', 'only those last seen before', readInstantFlag)
    .addOption(new Option('--limit <count>', 'how many at most, or all').default(50).argParser(readLimit))
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
            terminal.tell('There are more. Add --limit with a larger number, or --limit all.')
          }
          return
        }
      }),
    )
}

/** A table page by page, so that a list of any length needs no memory. */
function rows(subjects: readonly SubjectSummary[], withHeadings: boolean): string[] {
  const lines = table(summaryHeadings, subjects.map(summaryCells))
  return withHeadings ? lines : lines.slice(1)
}

function readInstantFlag(text: string): string {
  if (parseInstant(text) === null) throw new InvalidArgumentError(`It takes ${instantRule}.`)
  return text
}
