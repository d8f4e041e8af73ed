import type { Command } from 'commander'
import { rotateSecret } from '../../runtime/secret-file.ts'
import type { CommandKit } from '../command-kit.ts'
import { counted } from '../progress.ts'

export function addSecretCommand(program: Command, { terminal, config, withSecrets }: CommandKit): void {
  program
    .command('secret')
    .description("the installation's secrets")
    .command('rotate')
    .description('put a new secret in front of the others, which stay good')
    .option('--json', 'print one JSON object')
    .action((options: { json?: true }) =>
      withSecrets(async ({ secrets, clock }) => {
        const { path, keyring } = await rotateSecret(config(), secrets, clock())
        const [fingerprint, ...older] = keyring.fingerprints
        terminal.print(
          options.json
            ? JSON.stringify({ file: path, fingerprint, older })
            : `${path} begins with a new secret now, with the fingerprint ${fingerprint}; ${counted(older.length, 'older one')} ${older.length === 1 ? 'stays' : 'stay'} good.`,
        )
        terminal.tell(
          'Give the file to every other process that uses this store, and restart it: until then it does not know who is erased under the new secret. Imports that are running stop, and can be started again. Keep a copy of the file apart from the backups.',
        )
      }),
    )
}
