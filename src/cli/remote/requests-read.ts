import type { ListRequestsQuery, PrivacyRequest } from '@lethe/client'
import { Argument, type Command, Option } from 'commander'
import { maxPageSize } from '../../domain/page.ts'
import { requestKinds, requestStates } from '../../domain/privacy-request.ts'
import { type CommandKit, readLimit } from '../command-kit.ts'
import { counted, countsInWords, legible, table } from '../progress.ts'
import { readInstantFlag } from './subjects-read.ts'
import { requestHint, withClient } from './with-client.ts'

interface ListFlags extends Pick<ListRequestsQuery, 'state' | 'kind' | 'dueBefore'> {
  limit: number
  json?: true
}

export function addRequestsList(requests: Command, { terminal, config }: CommandKit): void {
  requests
    .command('list')
    .description('list requests, soonest due first')
    .addOption(new Option('--state <state>', 'only those in this state').choices(requestStates))
    .addOption(new Option('--kind <kind>', 'only those of this kind').choices(requestKinds))
    .option('--due-before <instant>', 'only those due before that time', readInstantFlag)
    .addOption(new Option('--limit <count>', 'the maximum number, or all').default(50).argParser(readLimit))
    .option('--json', 'print one JSON object per line')
    .action(({ limit, json, ...query }: ListFlags) =>
      withClient(config(), terminal, async (client) => {
        let left = limit
        let isFirst = true
        const pages = client.requests.list({ ...query, limit: Math.min(left, maxPageSize) }).pages()
        for await (const { requests: page, nextCursor } of pages) {
          const shown = page.slice(0, left)
          left -= shown.length
          const lines = json ? shown.map((each) => JSON.stringify(each)) : rows(shown, isFirst)
          for (const line of lines) terminal.print(line)
          isFirst = false
          if (left > 0) continue
          if (nextCursor !== null || shown.length < page.length)
            terminal.tell('More results exist. Use a larger --limit, or --limit all.')
          return
        }
      }),
    )
}

/** A page of the table. Lists are printed page by page, so that they need little memory. */
function rows(requests: readonly PrivacyRequest[], withHeadings: boolean): string[] {
  // Wide enough for every page.
  const headings = ['REQUEST'.padEnd(36), 'KIND   ', 'STATE    ', 'DUE'.padEnd(24), 'REFERENCE']
  const lines = table(
    headings,
    requests.map(({ requestId, kind, state, dueAt, reference }) => [
      ...[requestId, kind, state, dueAt, legible(reference ?? '')],
    ]),
  )
  return withHeadings ? lines : lines.slice(1)
}

export function addRequestsShow(requests: Command, { terminal, config }: CommandKit): void {
  requests
    .command('show')
    .description('show a request: its state, when it is due, and what was found')
    .addArgument(requestArgument())
    .option('--json', 'print one JSON object')
    .action((id: string, { json }: { json?: true }) =>
      withClient(
        config(),
        terminal,
        async (client) => printRequest(terminal.print, await client.requests.get(id), json),
        requestHint,
      ),
    )
}

export function requestArgument(): Argument {
  return new Argument('<request>', 'the ID of the request')
}

function printRequest(print: (line: string) => void, request: PrivacyRequest, json?: true): void {
  for (const line of json ? [JSON.stringify(request)] : describeRequest(request)) print(line)
}

/** A request, one field per line. Empty fields are omitted. */
export function describeRequest(request: PrivacyRequest): string[] {
  const { person, found, erased, left } = request
  const fields: [name: string, value: string | null][] = [
    ['Request', request.requestId],
    ['Kind', request.kind],
    ['State', request.state],
    ['Reference', request.reference],
    ['Received', request.receivedAt],
    ['Due', request.dueAt],
    ['Extended', request.extendedAt],
    ['Closed', request.closedAt],
    ['Reason', request.reason],
    ...(person?.identifiers ?? []).map(({ name, value }): [string, string] => [`Identifier ${name}`, value]),
    ...(person?.subjects ?? []).map(({ trackerId, subjectId }): [string, string] => [
      'Subject',
      `${trackerId} ${subjectId}`,
    ]),
    ['Found', dataInWords(found)],
    ['Erased', request.kind === 'erasure' ? dataInWords(erased) : null],
    ['Left', left ? counted(left, 'subject') : null],
    ['Resumes', request.resumesAt],
  ]
  const given = fields.filter((field): field is [string, string] => field[1] !== null)
  return table(
    ['', ''],
    given.map((cells) => cells.map(legible)),
  ).slice(1)
}

/** An amount of data: "3 subjects with 4 sessions and 12 events". */
export function dataInWords({ subjects, ...counts }: PrivacyRequest['found']): string {
  return `${counted(subjects, 'subject')} with ${countsInWords(counts)}`
}
