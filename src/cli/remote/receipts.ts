import type { Command } from 'commander'
import type { CommandKit } from '../command-kit.ts'
import { addReceiptsGet } from './receipts-get.ts'
import { addReceiptsVerify } from './receipts-verify.ts'
import { withClient } from './with-client.ts'

export function addReceiptsCommand(program: Command, kit: CommandKit): void {
  const receipts = program
    .command('receipts')
    .description('proofs of erasures: get them from a running service, verify them offline')
  addReceiptsGet(receipts, kit)
  addReceiptsVerify(receipts, kit)
  addReceiptsKey(receipts, kit)
}

function addReceiptsKey(receipts: Command, { terminal, config }: CommandKit): void {
  receipts
    .command('key')
    .description('print the keys that receipts are verified with, the one in use first')
    .option('--json', 'print one JSON object')
    .action((options: { json?: true }) =>
      withClient(config(), terminal, async (client) => {
        const { origin, verifierKeys } = await client.readLedger()
        if (options.json) terminal.print(JSON.stringify({ origin, verifierKeys }))
        else for (const key of verifierKeys) terminal.print(key)
      }),
    )
}
