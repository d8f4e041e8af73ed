import type { Command } from 'commander'
import { rotateSecret } from '../../runtime/secret-file.ts'
import type { CommandKit } from '../command-kit.ts'
import { counted } from '../progress.ts'

export function addSecretCommand(program: Command, { terminal, config, withSecrets }: CommandKit): void {
  program
    .command('secret')
    .description("the installation's secrets: rotate")
    .command('rotate')
    .description('add a new secret; the existing ones stay valid')
    .option('--json', 'print one JSON object')
    .action((options: { json?: true }) =>
      withSecrets(async ({ secrets, clock }) => {
        const { path, keyring } = await rotateSecret(config(), secrets, clock())
        const [fingerprint, ...older] = keyring.fingerprints
        terminal.print(
          options.json
            ? JSON.stringify({ file: path, fingerprint, older })
            : `Added a secret with the fingerprint ${fingerprint} to ${path}; ${counted(older.length, 'older one')} ${older.length === 1 ? 'stays' : 'stay'} valid.`,
        )
        terminal.tell(
          'Copy the file to every other process that uses this store, and restart the process: until then, it cannot recognise people erased under the new secret. Running imports stop and can be started again. Keep a copy of the file, separate from backups of the store.',
        )
      }),
    )
}
