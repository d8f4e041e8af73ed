import type { Keyring } from '../../domain/keyring.ts'
import { type LedgerStore, openHead } from '../../domain/ledger.ts'
import type { TreeHead } from '../../domain/merkle-tree.ts'

/** How an organisation's ledger stands, and by which keys others know it. */
export interface LedgerHead extends TreeHead {
  origin: string
  checkpoint: string
  verifierKeys: string[]
}

export async function readLedger(
  { ledger, keyring }: { ledger: LedgerStore; keyring: Keyring },
  organisationId: string,
): Promise<LedgerHead> {
  const head = openHead(keyring.headKeys, organisationId, await ledger.head(organisationId))
  return {
    ...head,
    origin: keyring.originOf(organisationId),
    checkpoint: keyring.signCheckpoint(organisationId, head),
    verifierKeys: keyring.signersOf(organisationId).map(({ verifierKey }) => verifierKey),
  }
}
