import type { Command } from 'commander'
import type { ServicesWithoutSecrets } from '../../domain/services.ts'
import type { CommandKit } from '../command-kit.ts'
import { flagOrAnswer, requireYes, type Terminal } from '../terminal.ts'

/** What API keys and variable tokens differ in. */
interface CredentialKind<Credential, Issued> {
  noun: 'key' | 'token'
  require(services: ServicesWithoutSecrets, id: string): Promise<Credential>
  rotate(services: ServicesWithoutSecrets, id: string): Promise<Issued>
  revoke(services: ServicesWithoutSecrets, id: string, typedName: string): Promise<Credential>
  showIssued(terminal: Terminal, issued: Issued, asJson?: true): void
  toJson(credential: Credential, services: ServicesWithoutSecrets): object
}

/** Adds the commands `rotate` and `revoke`. */
export function addCredentialChanges<Credential extends { name: string; lastFour: string }, Issued>(
  credentials: Command,
  { terminal, withStore }: CommandKit,
  { noun, require, rotate, revoke, showIssued, toJson }: CredentialKind<Credential, Issued>,
): void {
  credentials
    .command('rotate')
    .description(`give a ${noun} a new string; the old one stops working immediately`)
    .argument('<id>', `the ID of the ${noun}`)
    .option('--yes', 'confirm without a question')
    .option('--json', 'print one JSON object')
    .action((id: string, options: { yes?: true; json?: true }) =>
      withStore(async (services) => {
        const { name, lastFour } = await require(services, id)
        const question = `The string of "${name}" that ends in ${lastFour} will stop working immediately. Type yes to rotate the ${noun}: `
        if (!options.yes) await requireYes(terminal, question, 'Not confirmed. Nothing was changed.')
        showIssued(terminal, await rotate(services, id), options.json)
      }),
    )
  credentials
    .command('revoke')
    .description(`revoke a ${noun} permanently`)
    .argument('<id>', `the ID of the ${noun}`)
    .option('--name <name>', `the name of the ${noun}, to confirm without a question`)
    .option('--json', 'print one JSON object')
    .action((id: string, options: { name?: string; json?: true }) =>
      withStore(async (services) => {
        const { name } = await require(services, id)
        const question = `"${name}" will stop working immediately and permanently. Type its name to revoke it: `
        const typedName = await flagOrAnswer(terminal, options.name, '--name', question)
        const revoked = await revoke(services, id, typedName)
        terminal.print(
          options.json ? JSON.stringify(toJson(revoked, services)) : `Revoked the ${noun} "${revoked.name}".`,
        )
      }),
    )
}
