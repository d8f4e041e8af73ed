import { decodeHash } from './base64.ts'
import { parseSize } from './parse-size.ts'
import { editorsChange, openNote } from './signed-note.ts'
import { VerificationError } from './verification-error.ts'
import { withoutExtraNewlines } from './verifier-key.ts'

/** The size of a ledger and the root of its tree. */
export interface TreeHead {
  size: number
  /** In base64, as in a checkpoint. */
  rootHash: string
}

export interface VerifiedCheckpoint extends TreeHead {
  /** The name of the ledger, such as `lethe.local/acme`. */
  origin: string
  /** The given keys that signed it. */
  verifiedBy: string[]
}

export interface CheckpointOptions {
  /** The trusted keys, such as `verifierKeys` of the ledger, from a source that a forger cannot change. */
  verifierKeys: readonly string[]
}

/** Verifies a signed head of a ledger (C2SP tlog-checkpoint). Throws a `VerificationError`. */
export async function verifyCheckpoint(
  checkpoint: string,
  { verifierKeys }: CheckpointOptions,
): Promise<VerifiedCheckpoint> {
  const change = editorsChange(checkpoint)
  if (change !== null) throw malformed(change)
  const { text, signers } = await openNote(withoutExtraNewlines(checkpoint), verifierKeys)
  const { origin, size, rootHash } = parseHead(text)
  const verifiedBy = signers.filter(({ name }) => name === origin).map(({ vkey }) => vkey)
  if (verifiedBy.length === 0) {
    throw new VerificationError(
      'wrong_origin',
      `The checkpoint is of ${origin}, but it was signed by a key of another ledger.`,
    )
  }
  return { origin, size, rootHash, verifiedBy }
}

/** The head in the signed text of a checkpoint. */
export function parseHead(text: string): TreeHead & Pick<VerifiedCheckpoint, 'origin'> {
  const lines = text.slice(0, -1).split('\n')
  const [origin = '', sizeLine = '', rootHash = ''] = lines
  if (lines.includes('')) throw malformed('it has an empty line')
  const size = parseSize(sizeLine)
  if (size === null) throw malformed('its size is not a number')
  if (decodeHash(rootHash) === null) throw malformed('its root is not a hash in base64')
  return { origin, size, rootHash }
}

function malformed(what: string): VerificationError {
  return new VerificationError('malformed_checkpoint', `The checkpoint is malformed: ${what}.`)
}
