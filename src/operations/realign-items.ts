import type { Keyring } from '../domain/keyring.ts'
import type { LedgerStore } from '../domain/ledger.ts'
import { commitmentOf, parseRecord } from '../domain/ledger-record.ts'
import type { ItemOfEntry, ReplayStore } from '../domain/replay.ts'
import { ledgerPages } from './ledger.ts'

/**
 * Points the items of an organisation's requests to their entries, for which a journal may have had other indexes
 * than the ledger. Only the right entry opens the sealed nonce of an item. Items whose entries are lost stay as
 * they are.
 */
export async function realignItems(
  { replay, ledger }: { replay: ReplayStore; ledger: LedgerStore },
  keyring: Keyring,
  organisationId: string,
): Promise<void> {
  const items = await replay.itemsOfEntries(organisationId)
  if (items.length === 0) return
  const commitments: (string | null)[] = []
  for await (const entries of ledgerPages(ledger, organisationId)) {
    for (const { record } of entries) {
      const parsed = parseRecord(record)
      commitments.push(parsed && commitmentOf(parsed))
    }
  }
  const moved: ItemOfEntry[] = []
  let shift = 0
  for (const item of items) {
    const opens = (index: number) => {
      const commitment = commitments[index]
      return typeof commitment === 'string' && keyring.openNonce(item.sealedNonce, commitment) !== null
    }
    const index = indexNear(item.ledgerIndex, shift, commitments.length, opens)
    if (index === null || index === item.ledgerIndex) continue
    // Entries behind one gap have moved by the same number.
    shift = index - item.ledgerIndex
    moved.push({ ...item, ledgerIndex: index })
  }
  if (moved.length > 0) await replay.moveItems(organisationId, moved)
}

/** The index that fits, sought from the old one and the likely one outwards; `null` if none does. */
function indexNear(
  old: number,
  shift: number,
  size: number,
  fits: (index: number) => boolean,
): number | null {
  for (const index of [old, old + shift]) if (fits(index)) return index
  for (let distance = 1; distance <= Math.max(old, size); distance++) {
    for (const index of [old - distance, old + distance]) if (fits(index)) return index
  }
  return null
}
