import { notFound } from '../../domain/errors.ts'
import type { Keyring } from '../../domain/keyring.ts'
import { type LedgerStore, openHead } from '../../domain/ledger.ts'
import { formatReceipt, parseRecord } from '../../domain/receipt.ts'
import { provePlace } from './prove-entry.ts'

/**
 * The receipt of one entry for whoever knows whom it is about, made again against the ledger as it is now; `null` when it is about
 * somebody else. `not_found` without such an entry.
 */
export async function proveReceipt(
  { ledger, keyring }: { ledger: LedgerStore; keyring: Keyring },
  organisationId: string,
  { index, subjectId }: { index: number; subjectId: string },
): Promise<string | null> {
  const [entry] = await ledger.list(organisationId, index, 1)
  const record = entry?.index === index ? parseRecord(entry.record) : null
  if (!entry || !record) throw notFound('This entry of the ledger')
  const nonce = keyring.nonceOf(record.trackerId, subjectId, record)
  if (nonce === null) return null
  const head = openHead(keyring.headKeys, organisationId, await ledger.head(organisationId))
  const path = await provePlace(ledger, organisationId, index, head)
  const checkpoint = keyring.signCheckpoint(organisationId, head)
  return formatReceipt({ nonce, record: entry.record }, { index, path }, checkpoint)
}
