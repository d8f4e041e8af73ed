import { decodeHash } from './base64.ts'
import { parseSize } from './parse-size.ts'
import { editorsChange, openNote } from './signed-note.ts'
import { VerificationError } from './verification-error.ts'
import { withoutExtraNewlines } from './verifier-key.ts'

/** How large a ledger is, and the root of its tree. */
export interface TreeHead {
  size: number
  /** In base64, as it stands in a checkpoint. */
  rootHash: string
}

export interface VerifiedCheckpoint extends TreeHead {
  /** Whose ledger it is, such as `lethe.local/acme`. */
  origin: string
  /** Those of the given keys that signed it. */
  verifiedBy: string[]
}

export interface CheckpointOptions {
  /** The keys that are trusted, such as `verifierKeys` of the ledger. Take them from where a forger cannot put them. */
  verifierKeys: readonly string[]
}

/**
 * Verifies a signed head of a ledger (C2SP tlog-checkpoint). Extra newlines at its end, which no signature covers, are ignored.
 * Throws a `VerificationError`.
 */
export async function verifyCheckpoint(
  checkpoint: string,
  { verifierKeys }: CheckpointOptions,
): Promise<VerifiedCheckpoint> {
  const change = editorsChange(checkpoint)
  if (change !== null) throw malformed(change)
  const { text, signers } = await openNote(withoutExtraNewlines(checkpoint), verifierKeys)
  const lines = text.slice(0, -1).split('\n')
  const [origin = '', sizeLine = '', rootHash = ''] = lines
  if (lines.includes('')) throw malformed('a line of it is empty')
  const size = parseSize(sizeLine)
  if (size === null) throw malformed('its size is no number')
  if (decodeHash(rootHash) === null) throw malformed('its root is no hash in base64')
  const verifiedBy = signers.filter(({ name }) => name === origin).map(({ vkey }) => vkey)
  if (verifiedBy.length === 0) {
    throw new VerificationError(
      'wrong_origin',
      `The checkpoint is of ${origin}, and the key that signed it is not.`,
    )
  }
  return { origin, size, rootHash, verifiedBy }
}

function malformed(what: string): VerificationError {
  return new VerificationError('malformed_checkpoint', `The checkpoint is malformed: ${what}.`)
}
