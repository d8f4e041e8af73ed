import type { Command } from 'commander'
import { formatInstant, formatInstantOrNull } from '../../domain/instant.ts'
import type { VariableToken } from '../../domain/variable-token.ts'
import {
  createVariableToken,
  type IssuedToken,
  listVariableTokens,
  requireVariableToken,
  revokeVariableToken,
  rotateVariableToken,
} from '../../operations/variable-token.ts'
import type { CommandKit } from '../command-kit.ts'
import { table } from '../progress.ts'
import { flagOrAnswer, type Terminal } from '../terminal.ts'
import { addCredentialChanges } from './credential.ts'

export function addVariableTokensCommand(program: Command, kit: CommandKit): void {
  const tokens = program
    .command('variable-tokens')
    .description('tokens that read the variables of a tracker: create, list, rotate, revoke')
  addCreate(tokens, kit)
  addList(tokens, kit)
  addCredentialChanges(tokens, kit, {
    noun: 'token',
    require: requireVariableToken,
    rotate: rotateVariableToken,
    revoke: revokeVariableToken,
    showIssued,
    toJson,
  })
}

function addCreate(tokens: Command, { terminal, withStore }: CommandKit): void {
  tokens
    .command('create')
    .description('create a token and print its string, which is not shown again')
    .option('--tracker <tracker>', 'the tracker whose variables it reads')
    .option('--name <name>', 'its name, unique among the active tokens of the tracker')
    .option('--json', 'print one JSON object')
    .action((options: { tracker?: string; name?: string; json?: true }) =>
      withStore(async (services) => {
        const trackerId = await flagOrAnswer(terminal, options.tracker, '--tracker', 'Tracker ID: ')
        const name = await flagOrAnswer(terminal, options.name, '--name', 'Name of the token: ')
        showIssued(terminal, await createVariableToken(services, { trackerId, name }), options.json)
      }),
    )
}

function addList(tokens: Command, { terminal, withStore }: CommandKit): void {
  tokens
    .command('list')
    .description("list a tracker's variable tokens, including revoked ones")
    .requiredOption('--tracker <tracker>', 'the tracker')
    .option('--json', 'print one JSON object per line')
    .action((options: { tracker: string; json?: true }) =>
      withStore(async (services) => {
        const all = (await listVariableTokens(services, options.tracker)).map(toJson)
        const lines = options.json
          ? all.map((token) => JSON.stringify(token))
          : table(
              ['ID', 'NAME', 'ENDS IN', 'STATE', 'CREATED', 'LAST USED'],
              all.map((token) => [
                token.id,
                token.name,
                `…${token.lastFour}`,
                token.state,
                token.createdAt,
                token.lastUsedAt ?? 'never',
              ]),
            )
        for (const line of lines) terminal.print(line)
      }),
    )
}

function showIssued(terminal: Terminal, { token, tokenString }: IssuedToken, asJson?: true): void {
  const { id, name, trackerId } = token
  terminal.print(asJson ? JSON.stringify({ id, name, trackerId, token: tokenString }) : tokenString)
  if (!asJson) terminal.tell(`This is the variable token "${name}" (ID ${id}). It is not shown again.`)
}

function toJson({ id, name, trackerId, lastFour, ...token }: VariableToken) {
  return {
    id,
    name,
    trackerId,
    lastFour,
    state: token.revokedAt === null ? 'active' : 'revoked',
    createdAt: formatInstant(token.createdAt),
    rotatedAt: formatInstantOrNull(token.rotatedAt),
    revokedAt: formatInstantOrNull(token.revokedAt),
    lastUsedAt: formatInstantOrNull(token.lastUsedAt),
  }
}
