import { type Bytes, decodeHash } from './base64.ts'
import { type HashedTree, isConsistent } from './merkle-proof.ts'
import { VerificationError } from './verification-error.ts'
import {
  type CheckpointOptions,
  type TreeHead,
  type VerifiedCheckpoint,
  verifyCheckpoint,
} from './verify-checkpoint.ts'

export interface ConsistencyClaim {
  /** The older checkpoint, which is verified as well, or its size and root. */
  from: string | TreeHead
  /** The newer checkpoint. */
  to: string
  /** The hashes, in base64. */
  proof: readonly string[]
}

export interface VerifiedConsistency {
  from: TreeHead
  to: VerifiedCheckpoint
}

/** Verifies that a ledger still has all older entries in the same positions. Throws a `VerificationError`. */
export async function verifyConsistency(
  { from, to, proof }: ConsistencyClaim,
  options: CheckpointOptions,
): Promise<VerifiedConsistency> {
  const newer = await verifyCheckpoint(to, options)
  const older = typeof from === 'string' ? await olderCheckpoint(from, newer, options) : from
  const hashes = proof.map((hash) => decoded(hash, 'one of its lines is not a hash in base64'))
  if (!(await isConsistent(hashedTree(older), hashedTree(newer), hashes))) {
    throw new VerificationError(
      'inconsistent',
      `The proof does not show that the ledger of ${newer.size} entries begins with the one of ${older.size}.`,
    )
  }
  return { from: older, to: newer }
}

async function olderCheckpoint(
  text: string,
  { origin }: VerifiedCheckpoint,
  options: CheckpointOptions,
): Promise<TreeHead> {
  const older = await verifyCheckpoint(text, options)
  if (older.origin !== origin) {
    throw new VerificationError(
      'wrong_origin',
      `The checkpoints are of different ledgers, ${older.origin} and ${origin}.`,
    )
  }
  return older
}

function hashedTree({ size, rootHash }: TreeHead): HashedTree {
  if (!Number.isSafeInteger(size) || size < 0) throw malformed('the older size is not a number')
  return { size, root: decoded(rootHash, 'the older root is not a hash in base64') }
}

function decoded(hash: string, otherwise: string): Bytes {
  const bytes = decodeHash(hash)
  if (bytes === null) throw malformed(otherwise)
  return bytes
}

function malformed(what: string): VerificationError {
  return new VerificationError('malformed_proof', `The consistency proof is malformed: ${what}.`)
}
