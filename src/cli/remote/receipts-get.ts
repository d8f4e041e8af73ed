import type { LetheClient, Receipt } from '@lethe/client'
import type { Command } from 'commander'
import type { CommandKit } from '../command-kit.ts'
import { UsageError } from '../usage-error.ts'
import { subjectArgument, trackerArgument } from './subject-arguments.ts'
import { writeWhole } from './whole-file.ts'
import { withClient } from './with-client.ts'

export function addReceiptsGet(receipts: Command, { terminal, config }: CommandKit): void {
  receipts
    .command('get')
    .description('get the receipt of the erasure of a data subject')
    .addArgument(trackerArgument())
    .addArgument(subjectArgument())
    .option(
      '--output <file>',
      'the file to write it to, which must not exist, or - for standard output (the default)',
    )
    .option('--json', 'print all receipts there are, newest first, one JSON object per line')
    .action((tracker: string, subject: string, { output, json }: { output?: string; json?: true }) => {
      if (output !== undefined && json)
        throw new UsageError('--output takes one receipt, --json prints all of them.')
      return withClient(config(), terminal, async (client) => {
        if (json) {
          for await (const each of client.listReceipts(tracker, subject)) terminal.print(JSON.stringify(each))
          return
        }
        const { receipt, erasedAt } = await bestReceipt(client, tracker, subject)
        if (output === undefined || output === '-') return terminal.print(receipt.trimEnd())
        await writeWhole(output, oneOf(receipt))
        terminal.print(`Wrote the receipt of the erasure at ${erasedAt} to ${output}.`)
      })
    })
}

/** Of the newest erasure that deleted something; where none did, of the newest. */
async function bestReceipt(client: LetheClient, tracker: string, subject: string): Promise<Receipt> {
  let newest: Receipt | null = null
  for await (const each of client.listReceipts(tracker, subject)) {
    if (!each.alreadyErased) return each
    newest ??= each
  }
  if (newest !== null) return newest
  throw new Error(
    'There is no receipt: this data subject was never erased, or so long ago that its tombstone is gone.',
  )
}

async function* oneOf(text: string): AsyncGenerator<string> {
  yield text
}
