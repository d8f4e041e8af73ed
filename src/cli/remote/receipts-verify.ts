import { readFileSync } from 'node:fs'
import { VerificationError, type VerifiedReceipt, verifyReceipt } from '@lethe/client'
import type { Command } from 'commander'
import type { CommandKit } from '../command-kit.ts'
import { counted } from '../counted.ts'
import { legible } from '../legible.ts'
import { UsageError } from '../usage-error.ts'

interface VerifyFlags {
  key: string[]
  tracker?: string
  subject?: string
  json?: true
}

export function addReceiptsVerify(receipts: Command, { terminal, config }: CommandKit): void {
  receipts
    .command('verify')
    .description('verify a receipt, offline, and say what it proves')
    .argument('<file>', 'the file with the receipt')
    .requiredOption('--key <vkey...>', 'a verifier key that you trust, as lethe receipts key prints it')
    .option('--tracker <id>', 'the tracker that the erasure must be of')
    .option('--subject <id>', 'the data subject that the erasure must be of')
    .option('--json', 'print one JSON object')
    .action(async (file: string, { key, tracker, subject, json }: VerifyFlags) => {
      config()
      const receipt = readFileSync(file, 'utf8')
      const verified = await verifyReceipt(receipt, {
        // A ledger has several keys after a rotation, and `receipts key` prints one per line.
        verifierKeys: key.flatMap((each) => each.trim().split(/\s+/)),
        ...(tracker !== undefined && { trackerId: tracker }),
        ...(subject !== undefined && { subjectId: subject }),
      }).catch(refuse)
      if (json) terminal.print(JSON.stringify(verified))
      else for (const line of inWords(verified)) terminal.print(line)
    })
}

function refuse(error: unknown): never {
  if (!(error instanceof VerificationError)) throw error
  if (error.reason === 'malformed_key') throw new UsageError(`--key: ${error.message}`)
  throw new Error(`This receipt proves nothing (${error.reason}). ${error.message}`, { cause: error })
}

function inWords({ record, index, checkpoint, isSubjectProven }: VerifiedReceipt): string[] {
  const { trackerId, erasedAt, alreadyErased, counts } = record
  const who = isSubjectProven ? 'this data subject' : 'a data subject'
  const what = alreadyErased
    ? `held no data of ${who}`
    : `erased ${who}: ${counted(counts.sessions, 'session')} and ${counted(counts.events, 'event')}`
  const lines = [
    `The receipt is good: at ${erasedAt} the tracker ${legible(trackerId)} ${what}.`,
    `It is entry No. ${index + 1} of the ledger ${legible(checkpoint.origin)}, which had ${counted(checkpoint.size, 'entry', 'entries')} when it was signed.`,
  ]
  if (!isSubjectProven) lines.push('Whose data it was is not proven: name them with --tracker and --subject.')
  return lines
}
