import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import type { InclusionProof, TreeHead } from './merkle-tree.ts'

/** The head of a ledger as a C2SP tlog-checkpoint. */
export function formatCheckpoint(
  origin: string,
  { size, rootHash }: TreeHead,
  signers: readonly NoteSigner[],
): string {
  return signNote(`${origin}\n${size}\n${base64(rootHash)}\n`, signers)
}

/** A receipt as a C2SP tlog-proof: a ledger entry and its nonce, its inclusion proof, and a checkpoint. */
export function formatReceipt(
  { nonce, record }: { nonce: Uint8Array; record: string },
  { index, path }: Pick<InclusionProof, 'index' | 'path'>,
  checkpoint: string,
): string {
  const extra = JSON.stringify({ nonce: Buffer.from(nonce).toString('base64url'), record })
  const lines = ['c2sp.org/tlog-proof@v1', `extra ${base64(Buffer.from(extra))}`, `index ${index}`, ...path]
  return `${lines.join('\n')}\n\n${checkpoint}`
}

/** Bytes from another thread are not a `Buffer`. */
function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}

/** Signs C2SP signed notes with Ed25519. */
export interface NoteSigner {
  /** `<name>+<id>+<key>`. */
  verifierKey: string
  /** The signature line that follows a text. */
  signatureLine(text: string): string
}

/** The PKCS #8 prefix of a 32-byte Ed25519 seed. */
const seedPrefix = Buffer.from('302e020100300506032b657004220420', 'hex')
const ed25519 = Buffer.of(1)

/** The name must not contain a space or a plus sign. */
export function noteSigner(name: string, seed: Uint8Array): NoteSigner {
  const key = createPrivateKey({ key: Buffer.concat([seedPrefix, seed]), format: 'der', type: 'pkcs8' })
  const publicKey = Buffer.concat([ed25519, rawPublicKey(key)])
  const id = createHash('sha256').update(`${name}\n`).update(publicKey).digest().subarray(0, 4)
  return {
    verifierKey: `${name}+${id.toString('hex')}+${publicKey.toString('base64')}`,
    signatureLine(text) {
      const signature = sign(null, Buffer.from(text), key)
      return `— ${name} ${Buffer.concat([id, signature]).toString('base64')}\n`
    },
  }
}

/** The text must end with a newline. */
function signNote(text: string, signers: readonly NoteSigner[]): string {
  return `${text}\n${signers.map((signer) => signer.signatureLine(text)).join('')}`
}

function rawPublicKey(key: KeyObject): Buffer {
  return createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32)
}
