import { readFileSync } from 'node:fs'
import {
  type Identifier,
  type LedgerRecord,
  type LetheClient,
  type Receipt,
  VerificationError,
  type VerifiedReceipt,
  verifyReceipt,
} from '@lethe/client'
import type { Command } from 'commander'
import type { CommandKit } from '../command-kit.ts'
import { counted, legible } from '../progress.ts'
import { UsageError } from '../terminal.ts'
import { subjectArgument, trackerArgument } from './subjects-read.ts'
import { writeWhole } from './whole-file.ts'
import { readIdentifier, withClient } from './with-client.ts'

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
    .description('print the keys for verifying receipts, the current one first')
    .option('--json', 'print one JSON object')
    .action((options: { json?: true }) =>
      withClient(config(), terminal, async (client) => {
        const { origin, verifierKeys } = await client.readLedger()
        if (options.json) terminal.print(JSON.stringify({ origin, verifierKeys }))
        else for (const key of verifierKeys) terminal.print(key)
      }),
    )
}

function addReceiptsGet(receipts: Command, { terminal, config }: CommandKit): void {
  receipts
    .command('get')
    .description("get the receipt of a data subject's erasure")
    .addArgument(trackerArgument())
    .addArgument(subjectArgument())
    .option(
      '--output <file>',
      'the file to write, which must not exist, or - for standard output (the default)',
    )
    .option('--json', 'print all receipts, newest first, one JSON object per line')
    .action((tracker: string, subject: string, { output, json }: { output?: string; json?: true }) => {
      if (output !== undefined && json)
        throw new UsageError('--output writes one receipt and --json prints all: use only one of them.')
      return withClient(config(), terminal, async (client) => {
        if (json) {
          for await (const each of client.listReceipts(tracker, subject)) terminal.print(JSON.stringify(each))
          return
        }
        const { receipt, erasedAt } = await bestReceipt(client, tracker, subject)
        if (output === undefined || output === '-') return terminal.print(receipt.trimEnd())
        await writeWhole(output, [receipt])
        terminal.print(`Wrote the receipt of the erasure at ${erasedAt} to ${output}.`)
      })
    })
}

/** The receipt of the newest erasure that deleted something, or else of the newest. */
async function bestReceipt(client: LetheClient, tracker: string, subject: string): Promise<Receipt> {
  let newest: Receipt | null = null
  for await (const each of client.listReceipts(tracker, subject)) {
    if (!each.alreadyErased) return each
    newest ??= each
  }
  if (newest !== null) return newest
  throw new Error('There is no receipt: this data subject was never erased, or its tombstone has expired.')
}

interface VerifyFlags {
  key: string[]
  tracker?: string
  subject?: string
  identifier?: Identifier
  json?: true
}

function addReceiptsVerify(receipts: Command, { terminal, config }: CommandKit): void {
  receipts
    .command('verify')
    .description('verify a receipt offline and explain what it proves')
    .argument('<file>', 'the file with the receipt')
    .requiredOption('--key <vkey...>', 'a verifier key that you trust, as printed by lethe receipts key')
    .option('--tracker <id>', 'the tracker of the erasure')
    .option('--subject <id>', 'the erased data subject')
    .option('--identifier <name=value>', 'the person about whom nothing was held', readIdentifier)
    .option('--json', 'print one JSON object')
    .action(async (file: string, { key, tracker, subject, identifier, json }: VerifyFlags) => {
      config()
      const receipt = readFileSync(file, 'utf8')
      const verified = await verifyReceipt(receipt, {
        // A ledger has several keys after a rotation, and `receipts key` prints one per line.
        verifierKeys: key.flatMap((each) => each.trim().split(/\s+/)),
        ...(tracker !== undefined && { trackerId: tracker }),
        ...(subject !== undefined && { subjectId: subject }),
        ...(identifier !== undefined && { identifier }),
      }).catch(refuseReceipt)
      if (json) terminal.print(JSON.stringify(verified))
      else for (const line of inWords(verified)) terminal.print(line)
    })
}

/** For `catch`: says why a receipt is not valid. */
export function refuseReceipt(error: unknown): never {
  if (!(error instanceof VerificationError)) throw error
  if (error.reason === 'malformed_key') throw new UsageError(`--key: ${error.message}`)
  throw new Error(`The receipt is not valid (${error.reason}). ${error.message}`, { cause: error })
}

function inWords({ record, index, checkpoint, isSubjectProven }: VerifiedReceipt): string[] {
  const lines = [
    `The receipt is valid: ${statement(record, isSubjectProven)}.`,
    `It is entry ${index + 1} of the ledger ${legible(checkpoint.origin)}, which had ${counted(checkpoint.size, 'entry', 'entries')} when the receipt was signed.`,
  ]
  if (isSubjectProven) return lines
  const options =
    record.version === 1
      ? 'whose data was erased, use --tracker and --subject'
      : 'whom it is about, use --identifier'
  return [...lines, `To also verify ${options}.`]
}

/** What an entry says, in words. */
function statement(record: LedgerRecord, isSubjectProven: boolean): string {
  if (record.version === 2) {
    const whom = isSubjectProven ? 'this person' : 'a person'
    return `at ${record.checkedAt} nothing was held about ${whom} in any tracker`
  }
  const { trackerId, erasedAt, alreadyErased, counts } = record
  const who = isSubjectProven ? 'this data subject' : 'a data subject'
  const what = alreadyErased
    ? `had no data of ${who}`
    : `erased ${who}: ${counted(counts.sessions, 'session')} and ${counted(counts.events, 'event')}`
  return `at ${erasedAt} the tracker ${legible(trackerId)} ${what}`
}
