import { Argument, type Command, Option } from 'commander'
import { commandLine } from '../../domain/activity.ts'
import { LetheError } from '../../domain/errors.ts'
import { formatInstant, formatInstantOrNull } from '../../domain/instant.ts'
import { hasJoined, type Member, normaliseEmail, type Role, roles } from '../../domain/member.ts'
import {
  type Invited,
  inviteMember,
  issueLink,
  removeMember,
  requireMember,
  setMemberRole,
} from '../../operations/member.ts'
import { requireOrganisation } from '../../operations/organisation.ts'
import { removeFactors } from '../../operations/second-factor.ts'
import { disconnectMember } from '../../operations/single-sign-on.ts'
import type { CommandKit } from '../command-kit.ts'
import { table } from '../progress.ts'
import { consoleUrl, flagOrAnswer, type Terminal } from '../terminal.ts'

interface MemberOptions {
  org?: string
  email?: string
  role?: Role
  json?: true
}

export function addMembersCommand(program: Command, kit: CommandKit): void {
  const members = program
    .command('members')
    .description(
      'people who can sign in to the console, and their roles: create, link, list, set-role, disconnect, remove, remove-factors',
    )
  addCreate(members, kit)
  addLink(members, kit)
  addList(members, kit)
  addSetRole(members, kit)
  addDisconnect(members, kit)
  addRemove(members, kit)
  addRemoveFactors(members, kit)
}

function addCreate(members: Command, kit: CommandKit): void {
  members
    .command('create')
    .description('add a member and print a one-time link to set a password')
    .option('--org <org>', 'the organisation')
    .option('--email <email>', 'the e-mail address to sign in with')
    .addOption(
      new Option(
        '--role <role>',
        'what the member may do (default: admin for the first member, viewer for others)',
      ).choices(roles),
    )
    .option('--json', 'print one JSON object')
    .action((options: MemberOptions) =>
      kit.withStore(async (services) => {
        const { organisationId, email } = await readOptions(options, kit)
        const invitee = { organisationId, email, role: options.role }
        show(await inviteMember(services, invitee, commandLine), options, kit)
      }),
    )
}

function addLink(members: Command, kit: CommandKit): void {
  members
    .command('link')
    .description('print a one-time link for a member to set a new password')
    .option('--org <org>', 'the organisation')
    .option('--email <email>', 'the e-mail address of the member')
    .option('--json', 'print one JSON object')
    .action((options: MemberOptions) =>
      kit.withStore(async (services) => {
        const { organisationId, email } = await readOptions(options, kit)
        const member = await requireMember(services, organisationId, email)
        show(await issueLink(services, member, commandLine), options, kit)
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
      withStore(async (services) => {
        await requireOrganisation(services, options.org)
        const all = (await services.members.list(options.org)).map(toJson)
        const lines = options.json
          ? all.map((member) => JSON.stringify(member))
          : table(
              ['ID', 'EMAIL', 'ROLE', 'PASSWORD SET', 'SINGLE SIGN-ON'],
              all.map(({ id, email, role, joinedAt, singleSignOn }) => [
                ...[id, email, role, joinedAt ?? 'not yet', singleSignOn ? 'yes' : 'not yet'],
              ]),
            )
        for (const line of lines) terminal.print(line)
      }),
    )
}

function addSetRole(members: Command, { terminal, withStore }: CommandKit): void {
  members
    .command('set-role')
    .description("change a member's role, from the next request on")
    .argument('<member>', 'the ID of the member, or the e-mail address')
    .addArgument(new Argument('<role>', 'the role').choices(roles))
    .requiredOption('--org <org>', 'the organisation')
    .option('--json', 'print one JSON object')
    .action((named: string, role: Role, options: { org: string; json?: true }) =>
      withStore(async (services) => {
        const { id: memberId, organisationId } = await requireMember(services, options.org, named)
        const member = await setMemberRole(services, { organisationId, memberId, role }, commandLine)
        terminal.print(
          options.json ? JSON.stringify(toJson(member)) : `${member.email} now has the role ${role}.`,
        )
      }),
    )
}

function addDisconnect(members: Command, { terminal, withStore }: CommandKit): void {
  members
    .command('disconnect')
    .description('forget with which account at the identity provider a member signs in')
    .argument('<member>', 'the ID of the member, or the e-mail address')
    .requiredOption('--org <org>', 'the organisation')
    .option('--json', 'print one JSON object')
    .action((named: string, options: { org: string; json?: true }) =>
      withStore(async (services) => {
        const member = await requireMember(services, options.org, named)
        await disconnectMember(services, member, commandLine)
        terminal.print(
          options.json
            ? JSON.stringify(toJson({ ...member, isConnected: false }))
            : `Disconnected ${member.email}, who is signed out everywhere. The next single sign-on connects the member again.`,
        )
      }),
    )
}

function addRemove(members: Command, { terminal, withStore }: CommandKit): void {
  members
    .command('remove')
    .description('remove a member, who is signed out immediately')
    .argument('<member>', 'the ID of the member, or the e-mail address')
    .requiredOption('--org <org>', 'the organisation')
    .option('--email <email>', 'the e-mail address of the member, to confirm without a question')
    .option('--json', 'print one JSON object')
    .action((named: string, options: { org: string; email?: string; json?: true }) =>
      withStore(async (services) => {
        const member = await requireMember(services, options.org, named)
        const { id: memberId, organisationId, email } = member
        const question = `${email} will be signed out immediately and can no longer sign in. Type the address to remove the member: `
        await confirmAddress(terminal, member, options.email, question)
        await removeMember(services, { organisationId, memberId }, commandLine)
        terminal.print(
          options.json
            ? JSON.stringify(toJson(member))
            : `Removed ${email}, who is signed out everywhere. The activity of ${organisationId} records it.`,
        )
      }),
    )
}

function addRemoveFactors(members: Command, { terminal, withStore }: CommandKit): void {
  members
    .command('remove-factors')
    .description('remove the passkeys, authenticator app and recovery codes of a member who has lost them')
    .argument('<member>', 'the ID of the member, or the e-mail address')
    .requiredOption('--org <org>', 'the organisation')
    .option('--email <email>', 'the e-mail address of the member, to confirm without a question')
    .option('--json', 'print one JSON object')
    .action((named: string, options: { org: string; email?: string; json?: true }) =>
      withStore(async (services) => {
        const member = await requireMember(services, options.org, named)
        const { id: memberId, organisationId, email } = member
        const question = `${email} will be signed out, and the password alone will be enough to sign in. Type the address to remove the second factors: `
        await confirmAddress(terminal, member, options.email, question)
        await removeFactors(services, { organisationId, memberId }, commandLine)
        terminal.print(
          options.json
            ? JSON.stringify(toJson(member))
            : `Removed the second factors of ${email}. The activity of ${organisationId} records it.`,
        )
      }),
    )
}

function toJson({ id, email, role, organisationId, passwordSetAt, isConnected }: Member) {
  const joinedAt = formatInstantOrNull(passwordSetAt)
  return { id, email, role, orgId: organisationId, joinedAt, singleSignOn: isConnected }
}

async function readOptions({ org, email }: MemberOptions, { terminal }: CommandKit) {
  return {
    organisationId: await flagOrAnswer(terminal, org, '--org', 'Organisation ID: '),
    email: await flagOrAnswer(terminal, email, '--email', 'E-mail address: '),
  }
}

function show(
  { member, token, expiresAt }: Invited,
  { json }: MemberOptions,
  { terminal, config }: CommandKit,
): void {
  const { id, email, role, organisationId } = member
  const link = joinLink(consoleUrl(config()), token)
  const expiry = formatInstant(expiresAt)
  if (json) {
    terminal.print(JSON.stringify({ id, email, role, orgId: organisationId, link, expiresAt: expiry }))
    return
  }
  terminal.print(link)
  terminal.tell(
    `With this link, ${email} can set a password. It can be used once, until ${expiry}, and is not shown again.`,
  )
  if (!hasJoined(member))
    terminal.tell(`The role of the member is ${role}. lethe members set-role changes it.`)
}

/** The token is in the fragment, which browsers do not send to servers. */
export function joinLink(url: string, token: string): string {
  return `${url}/console/join#${token}`
}

/** Throws `invalid_request` unless the address of the member was given, or is typed now. */
async function confirmAddress(
  terminal: Terminal,
  { email }: Member,
  given: string | undefined,
  question: string,
): Promise<void> {
  const typed = await flagOrAnswer(terminal, given, '--email', question)
  if (normaliseEmail(typed) === email) return
  throw new LetheError('invalid_request', 'the address does not match this member; nothing was removed')
}
