import { createCipheriv, createDecipheriv, createHmac, createSecretKey, type KeyObject } from 'node:crypto'

const sealCipher = 'aes-256-gcm'
const sealTagBytes = 16
const ivBytes = 12

/**
 * Encrypts texts, each bound to an owner. The same text of the same owner always gives the same seal: the IV
 * is a digest of what is sealed.
 */
export class TextSeal {
  readonly #key: Buffer
  readonly #ivKey: KeyObject

  constructor(key: Buffer, ivKey: Buffer) {
    this.#key = key
    this.#ivKey = createSecretKey(ivKey)
  }

  seal(owner: string, text: string): Buffer {
    const iv = createHmac('sha256', this.#ivKey).update(`${owner}\0${text}`).digest().subarray(0, ivBytes)
    const cipher = createCipheriv(sealCipher, this.#key, iv).setAAD(Buffer.from(owner))
    return Buffer.concat([iv, cipher.update(text), cipher.final(), cipher.getAuthTag()])
  }

  /** `null` if another key sealed it, or this one for another owner. */
  open(owner: string, sealed: Buffer): string | null {
    try {
      const decipher = createDecipheriv(sealCipher, this.#key, sealed.subarray(0, ivBytes), {
        authTagLength: sealTagBytes,
      })
      decipher.setAAD(Buffer.from(owner)).setAuthTag(sealed.subarray(-sealTagBytes))
      const text = decipher.update(sealed.subarray(ivBytes, -sealTagBytes))
      return Buffer.concat([text, decipher.final()]).toString()
    } catch {
      return null
    }
  }
}

/** `null` if none of them sealed it for this owner. `sealed` is in base64url. */
export function openWithAny(seals: readonly TextSeal[], owner: string, sealed: string): string | null {
  const bytes = Buffer.from(sealed, 'base64url')
  for (const seal of seals) {
    const text = seal.open(owner, bytes)
    if (text !== null) return text
  }
  return null
}
