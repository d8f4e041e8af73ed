import type { Command } from 'commander'
import { commandLine } from '../domain/activity.ts'
import { LetheError } from '../domain/errors.ts'
import { formatInstant } from '../domain/instant.ts'
import { normaliseEmail } from '../domain/member.ts'
import { inviteMember } from '../operations/invite-member.ts'
import { type Invited, issueLink } from '../operations/issue-link.ts'
import { requireOrganisation } from '../operations/require-organisation.ts'
import type { CommandKit } from './command-kit.ts'
import { consoleUrl } from './console-url.ts'
import { flagOrAnswer } from './questions.ts'
import { table } from './table.ts'

interface MemberOptions {
  org?: string
  email?: string
  json?: true
}

export function addMembersCommand(program: Command, kit: CommandKit): void {
  const members = program
    .command('members')
    .description('people who may sign in to the console: create, link, list')
  addCreate(members, kit)
  addLink(members, kit)
  addList(members, kit)
}

function addCreate(members: Command, kit: CommandKit): void {
  members
    .command('create')
    .description('make somebody a member and print a one-time link to set a password')
    .option('--org <org>', 'the organisation whose console it is')
    .option('--email <email>', 'the e-mail address to sign in with')
    .option('--json', 'print one JSON object')
    .action((options: MemberOptions) =>
      kit.withStore(async (workplace) => {
        const { organisationId, email } = await readOptions(options, kit)
        show(await inviteMember(workplace, { organisationId, email }, commandLine), options, kit)
      }),
    )
}

function addLink(members: Command, kit: CommandKit): void {
  members
    .command('link')
    .description('print a new one-time link for a member, to set the password anew')
    .option('--org <org>', 'the organisation whose console it is')
    .option('--email <email>', 'the e-mail address of the member')
    .option('--json', 'print one JSON object')
    .action((options: MemberOptions) =>
      kit.withStore(async (workplace) => {
        const { organisationId, email } = await readOptions(options, kit)
        const found = await workplace.members.findByEmail(normaliseEmail(email), organisationId)
        if (found === null)
          throw new LetheError('not_found', `There is no member ${email} in "${organisationId}".`)
        show(await issueLink(workplace, found.member, commandLine), options, kit)
      }),
    )
}

function addList(members: Command, { terminal, withStore }: CommandKit): void {
  members
    .command('list')
    .description("list an organisation's members")
    .requiredOption('--org <org>', 'the organisation')
    .option('--json', 'print one JSON object per line')
    .action((options: { org: string; json?: true }) =>
      withStore(async (workplace) => {
        await requireOrganisation(workplace, options.org)
        const all = (await workplace.members.list(options.org)).map(({ id, email, passwordSetAt }) => ({
          ...{ id, email, orgId: options.org },
          joinedAt: passwordSetAt === null ? null : formatInstant(passwordSetAt),
        }))
        const lines = options.json
          ? all.map((member) => JSON.stringify(member))
          : table(
              ['ID', 'EMAIL', 'JOINED'],
              all.map(({ id, email, joinedAt }) => [id, email, joinedAt ?? 'not yet']),
            )
        for (const line of lines) terminal.print(line)
      }),
    )
}

async function readOptions({ org, email }: MemberOptions, { terminal }: CommandKit) {
  return {
    organisationId: await flagOrAnswer(terminal, org, '--org', 'Organisation (its id): '),
    email: await flagOrAnswer(terminal, email, '--email', 'E-mail address: '),
  }
}

function show(
  { member, token, expiresAt }: Invited,
  { json }: MemberOptions,
  { terminal, config }: CommandKit,
): void {
  const { id, email, organisationId } = member
  const link = joinLink(consoleUrl(config()), token)
  const expiry = formatInstant(expiresAt)
  if (json) {
    terminal.print(JSON.stringify({ id, email, orgId: organisationId, link, expiresAt: expiry }))
    return
  }
  terminal.print(link)
  terminal.tell(
    `With this link ${email} sets a password. It is good once, until ${expiry}, and shown this once.`,
  )
}

/** The token stands behind the hash, which browsers send to nobody. */
export function joinLink(url: string, token: string): string {
  return `${url}/console/join#${token}`
}
