import { type Bytes, encodeBase64Url } from './base64.ts'
import { hashLeaf } from './merkle-proof.ts'
import { sha256 } from './web-crypto.ts'

/** A ledger entry as it is in the tree. */
interface PlacedRecord {
  index: number
  record: string
}

/**
 * The digest by which a link to `/verify` names the entries of a certificate: SHA-256 over their leaf hashes
 * in the order of their indexes, in base64url. It stays the same when receipts are issued again.
 */
export async function digestEntries(entries: readonly PlacedRecord[]): Promise<string> {
  const byIndex = new Map(entries.map(({ index, record }) => [index, record]))
  const inOrder = [...byIndex].sort(([one], [other]) => one - other)
  const leaves: Bytes[] = []
  for (const [, record] of inOrder) leaves.push(await hashLeaf(new TextEncoder().encode(record)))
  return encodeBase64Url(await sha256(...leaves))
}
