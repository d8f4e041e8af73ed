import type { Keyring } from '../../domain/keyring.ts'
import { type LedgerStore, openHead } from '../../domain/ledger.ts'
import { consistencyPath, hashesOfPath } from '../../domain/merkle-tree.ts'
import { Problems } from '../../domain/problems.ts'

/** Proves that a ledger begins with what it was when it had `from` entries. */
export interface ConsistencyProof {
  from: number
  to: number
  proof: Buffer[]
  /** The head that it leads to. */
  checkpoint: string
}

/** `validation_error` when the ledger has fewer entries than `from`. */
export async function proveConsistency(
  { ledger, keyring }: { ledger: LedgerStore; keyring: Keyring },
  organisationId: string,
  from: number,
): Promise<ConsistencyProof> {
  const head = openHead(keyring.headKeys, organisationId, await ledger.head(organisationId))
  const problems = new Problems()
  if (from > head.size) {
    problems.add('from', `from must be at most ${head.size}, the number of entries in the ledger`)
  }
  problems.throwIfAny()
  const path = consistencyPath(from, head.size)
  const proof = hashesOfPath(path, await ledger.hashes(organisationId, path.flat()))
  return { from, to: head.size, proof, checkpoint: keyring.signCheckpoint(organisationId, head) }
}
