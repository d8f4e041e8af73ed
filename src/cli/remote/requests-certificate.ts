import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type RequestCertificate, verifyReceipt } from '@lethe/client'
import type { Command } from 'commander'
import type { CommandKit } from '../command-kit.ts'
import { counted, legible, table } from '../progress.ts'
import { refuseReceipt } from './receipts.ts'
import { requestArgument } from './requests-read.ts'
import { writeWhole } from './whole-file.ts'
import { requestHint, withClient } from './with-client.ts'

interface CertificateFlags {
  receipts?: string
  key?: string[]
  json?: true
}

export function addRequestsCertificate(requests: Command, { terminal, config }: CommandKit): void {
  requests
    .command('certificate')
    .description('show what was erased or that nothing was held, and get the receipts that prove it')
    .addArgument(requestArgument())
    .option('--receipts <folder>', 'a folder for the receipts, one file each')
    .option('--key <vkey...>', 'verify the receipts with these keys, as printed by lethe receipts key')
    .option('--json', 'print one JSON object')
    .action((id: string, { receipts, key, json }: CertificateFlags) =>
      withClient(
        config(),
        terminal,
        async (client) => {
          const certificate = await client.requests.certificate(id)
          if (key !== undefined) await verifyCertificate(certificate, key)
          if (receipts !== undefined) await saveReceipts(receipts, certificate)
          if (json) return terminal.print(JSON.stringify(certificate))
          for (const line of describe(certificate)) terminal.print(line)
          const count = counted(receiptsOf(certificate).length, 'receipt')
          if (receipts !== undefined) terminal.tell(`Wrote ${count} to ${receipts}.`)
          if (key !== undefined) terminal.tell(`Verified ${count}.`)
        },
        requestHint,
      ),
    )
}

function receiptsOf({ entries, nothingHeld }: RequestCertificate): { index: number; receipt: string }[] {
  return [...entries, ...nothingHeld]
}

/** Writes the receipts as files named after their entries in the ledger. */
export async function saveReceipts(folder: string, certificate: RequestCertificate): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for (const { index, receipt } of receiptsOf(certificate))
    await writeWhole(join(folder, `entry-${index + 1}.receipt.txt`), [receipt])
}

/** Throws unless each receipt is valid and proves its line of the certificate. */
async function verifyCertificate(certificate: RequestCertificate, keys: readonly string[]): Promise<void> {
  const verifierKeys = keys.flatMap((key) => key.trim().split(/\s+/))
  const verify = (receipt: string) => verifyReceipt(receipt, { verifierKeys }).catch(refuseReceipt)
  for (const { receipt, index, ...entry } of certificate.entries) {
    const { record, index: provenIndex } = await verify(receipt)
    const isProven =
      record.version === 1 &&
      record.trackerId === entry.trackerId &&
      record.erasedAt === entry.erasedAt &&
      record.alreadyErased === entry.alreadyErased &&
      record.counts.sessions === entry.counts.sessions &&
      record.counts.events === entry.counts.events
    if (!isProven || provenIndex !== index) throw unproven(index)
  }
  for (const { receipt, index, checkedAt } of certificate.nothingHeld) {
    const { record, index: provenIndex } = await verify(receipt)
    if (record.version !== 2 || record.checkedAt !== checkedAt || provenIndex !== index) throw unproven(index)
  }
}

function unproven(index: number): Error {
  return new Error(`The receipt of entry ${index + 1} does not prove what the certificate says.`)
}

function describe({ entries, nothingHeld, complete, ...request }: RequestCertificate): string[] {
  const lines = [
    `The ${request.kind} request ${request.requestId}, received ${request.receivedAt}, closed ${request.closedAt ?? 'not yet'}.`,
  ]
  if (!complete) lines.push('The certificate is not complete.')
  for (const { name, checkedAt } of nothingHeld)
    lines.push(`At ${checkedAt} nothing was held about the person with the identifier ${legible(name)}.`)
  if (entries.length === 0) return lines
  const rows = entries.map(({ index, trackerId, erasedAt, counts }) => [
    ...[String(index + 1), legible(trackerId), erasedAt, String(counts.sessions), String(counts.events)],
  ])
  return [...lines, ...table(['ENTRY', 'TRACKER', 'ERASED', 'SESSIONS', 'EVENTS'], rows)]
}
