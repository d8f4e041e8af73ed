import { type Command, Option } from 'commander'
import { type ApiKey, allScopes, apiKeyState, scopes } from '../../domain/api-key.ts'
import { formatInstant, formatInstantOrNull, type Instant } from '../../domain/instant.ts'
import {
  createKey,
  type IssuedKey,
  renameKey,
  requireKey,
  revokeKey,
  rotateKey,
} from '../../operations/api-key.ts'
import { requireOrganisation } from '../../operations/organisation.ts'
import { type CommandKit, readInstantOption } from '../command-kit.ts'
import { table } from '../progress.ts'
import { flagOrAnswer, type Terminal } from '../terminal.ts'
import { addCredentialChanges } from './credential.ts'

export function addKeysCommand(program: Command, kit: CommandKit): void {
  const keys = program.command('keys').description('API keys: create, list, rename, rotate, revoke')
  addCreate(keys, kit)
  addList(keys, kit)
  addRename(keys, kit)
  addCredentialChanges(keys, kit, {
    noun: 'key',
    require: requireKey,
    rotate: rotateKey,
    revoke: revokeKey,
    showIssued,
    toJson: (key, { clock }) => toJson(key, clock()),
  })
}

function addCreate(keys: Command, { terminal, withStore }: CommandKit): void {
  keys
    .command('create')
    .description('create a key and print its string, which is not shown again')
    .option('--org <org>', 'the organisation it acts for')
    .option('--name <name>', 'its name, unique among the active keys of the organisation')
    .addOption(new Option('--scope <scope...>', 'the scopes of the key').choices(allScopes()))
    .option(
      '--expires-at <instant>',
      'when it expires, such as 2027-01-31T12:00:00Z (default: never)',
      readInstantOption,
    )
    .option('--json', 'print one JSON object')
    .action((options: { org?: string; name?: string; scope?: string[]; expiresAt?: Instant; json?: true }) =>
      withStore(async (services) => {
        const organisationId = await flagOrAnswer(terminal, options.org, '--org', 'Organisation ID: ')
        const name = await flagOrAnswer(terminal, options.name, '--name', 'Name of the key: ')
        const granted = options.scope ?? (await askForScopes(terminal))
        const { expiresAt = null } = options
        const issued = await createKey(services, { organisationId, name, scopes: granted, expiresAt })
        showIssued(terminal, issued, options.json)
      }),
    )
}

function addList(keys: Command, { terminal, withStore }: CommandKit): void {
  keys
    .command('list')
    .description("list an organisation's keys, including expired and revoked ones")
    .requiredOption('--org <org>', 'the organisation')
    .option('--json', 'print one JSON object per line')
    .action((options: { org: string; json?: true }) =>
      withStore(async (services) => {
        await requireOrganisation(services, options.org)
        const now = services.clock()
        const all = (await services.apiKeys.list(options.org)).map((key) => toJson(key, now))
        const lines = options.json
          ? all.map((key) => JSON.stringify(key))
          : table(
              ['ID', 'NAME', 'SCOPES', 'ENDS IN', 'STATE', 'CREATED', 'LAST USED', 'EXPIRES'],
              all.map((key) => [
                key.id,
                key.name,
                key.scopes.join(' '),
                `…${key.lastFour}`,
                key.state,
                key.createdAt,
                key.lastUsedAt ?? 'never',
                key.expiresAt ?? 'never',
              ]),
            )
        for (const line of lines) terminal.print(line)
      }),
    )
}

function addRename(keys: Command, { terminal, withStore }: CommandKit): void {
  keys
    .command('rename')
    .description('rename a key; its string does not change')
    .argument('<id>', 'the ID of the key')
    .option('--name <name>', 'the new name, unique among the active keys of the organisation')
    .option('--json', 'print one JSON object')
    .action((id: string, options: { name?: string; json?: true }) =>
      withStore(async (services) => {
        const name = await flagOrAnswer(terminal, options.name, '--name', 'New name of the key: ')
        const renamed = toJson(await renameKey(services, id, name), services.clock())
        terminal.print(options.json ? JSON.stringify(renamed) : `Renamed the key ${id} to "${name}".`)
      }),
    )
}

function showIssued(terminal: Terminal, { key, keyString }: IssuedKey, asJson?: true): void {
  const { id, name, organisationId, expiresAt } = key
  if (asJson) {
    const expiry = formatInstantOrNull(expiresAt)
    terminal.print(
      JSON.stringify({
        id,
        name,
        orgId: organisationId,
        scopes: key.scopes,
        expiresAt: expiry,
        key: keyString,
      }),
    )
    return
  }
  terminal.print(keyString)
  terminal.tell(`This is the key "${name}" (ID ${id}). Keep it safe: it is not shown again.`)
}

function toJson(key: ApiKey, now: Instant) {
  const { id, name, organisationId, lastFour } = key
  return {
    id,
    name,
    orgId: organisationId,
    scopes: key.scopes,
    lastFour,
    state: apiKeyState(key, now),
    createdAt: formatInstant(key.createdAt),
    rotatedAt: formatInstantOrNull(key.rotatedAt),
    expiresAt: formatInstantOrNull(key.expiresAt),
    revokedAt: formatInstantOrNull(key.revokedAt),
    lastUsedAt: formatInstantOrNull(key.lastUsedAt),
  }
}

async function askForScopes(terminal: Terminal): Promise<string[]> {
  const known = Object.entries(scopes).map(([scope, allows]) => `  ${scope}: ${allows}\n`)
  const question = `Scopes:\n${known.join('')}Scopes of the key, separated by spaces: `
  const answer = await flagOrAnswer(terminal, undefined, '--scope', question)
  return answer.split(/[\s,]+/).filter((scope) => scope !== '')
}
