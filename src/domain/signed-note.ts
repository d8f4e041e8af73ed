import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'

// C2SP signed-note with Ed25519: a text, and below it a line for each signature.

/** What signs notes under a name. */
export interface NoteSigner {
  /** How others know the key: `<name>+<id>+<key>`. */
  verifierKey: string
  /** The line that it puts below a text. */
  signatureLine(text: string): string
}

/** What stands before the 32 bytes of an Ed25519 seed in PKCS #8. */
const seedPrefix = Buffer.from('302e020100300506032b657004220420', 'hex')
const ed25519 = Buffer.of(1)

/** A signer whose key is made of 32 bytes that nobody else knows. The name holds no space and no plus sign. */
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

/** A text that ends with a newline, signed by all of them. */
export function signNote(text: string, signers: readonly NoteSigner[]): string {
  return `${text}\n${signers.map((signer) => signer.signatureLine(text)).join('')}`
}

function rawPublicKey(key: KeyObject): Buffer {
  return createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32)
}
