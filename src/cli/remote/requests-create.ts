import type { Identifier, PrivacyRequest } from '@lethe/client'
import { Argument, type Command, InvalidArgumentError, Option } from 'commander'
import { requestKinds } from '../../domain/privacy-request.ts'
import type { CommandKit } from '../command-kit.ts'
import { UsageError } from '../terminal.ts'
import { dataInWords } from './requests-read.ts'
import { readId, readInstantFlag } from './subjects-read.ts'
import { readIdentifier, requestHint, withClient } from './with-client.ts'

interface CreateFlags {
  by?: Identifier[]
  tracker?: string
  subject?: string[]
  reference?: string
  receivedAt?: string
  id?: string
  json?: true
}

export function addRequestsCreate(requests: Command, { terminal, config }: CommandKit): void {
  requests
    .command('create')
    .description('record what a person asked for, and find their data')
    .addArgument(new Argument('<kind>', 'what the person wants').choices(requestKinds))
    .addOption(
      new Option(
        '--by <identifier...>',
        'identifiers of the person, such as email=ada@example.com',
      ).argParser((text, earlier: Identifier[] = []) => [...earlier, readIdentifier(text)]),
    )
    .addOption(
      new Option('--subject <id...>', 'data subjects of the person, with --tracker').argParser(
        (text, earlier: string[] = []) => [...earlier, readId(text)],
      ),
    )
    .addOption(new Option('--tracker <id>', 'the tracker of --subject').argParser(readId))
    .addOption(referenceOption('your own name for the request, such as a ticket number'))
    .option('--received-at <instant>', 'when the person asked (default: now)', readInstantFlag)
    .option(
      '--id <uuid>',
      'the ID of the request, so that a repeated command creates it once (default: random)',
    )
    .option('--json', 'print one JSON object')
    .action((kind: PrivacyRequest['kind'], flags: CreateFlags) => {
      const settings = config()
      const { by = [], tracker, subject = [], reference, receivedAt, id, json } = flags
      if (by.length + subject.length === 0)
        throw new UsageError('Specify the person, with --by or --subject.')
      if (subject.length > 0 !== (tracker !== undefined))
        throw new UsageError('Use --subject and --tracker together.')
      const subjects = subject.map((subjectId) => ({ trackerId: tracker ?? '', subjectId }))
      const wanted = { kind, person: { identifiers: by, subjects }, reference, receivedAt, requestId: id }
      const work = async (request: Promise<PrivacyRequest>) => {
        const created = await request
        for (const line of json ? [JSON.stringify(created)] : inWords(created)) terminal.print(line)
      }
      return withClient(settings, terminal, (client) => work(client.requests.create(wanted)), requestHint)
    })
}

/** A reference must not contain personal data, because it is kept after the request is closed. */
export function referenceOption(description: string): Option {
  return new Option('--reference <text>', `${description}; nothing personal`).argParser((text) => {
    if (text.trim() === '') throw new InvalidArgumentError('Expected a text.')
    return text
  })
}

function inWords({ requestId, kind, state, dueAt, found }: PrivacyRequest): string[] {
  if (state !== 'open') return [`The ${kind} request ${requestId} exists already and is ${state}.`]
  return [`Created the ${kind} request ${requestId}, due ${dueAt}.`, `Found ${dataInWords(found)}.`]
}
