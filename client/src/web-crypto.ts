import type { Bytes } from './base64.ts'
import { VerificationError } from './verification-error.ts'

export async function sha256(...pieces: Uint8Array[]): Promise<Bytes> {
  return new Uint8Array(await subtle().digest('SHA-256', concatenate(pieces)))
}

export async function hmacSha256(key: Bytes, message: Bytes): Promise<Bytes> {
  const imported = await subtle().importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  return new Uint8Array(await subtle().sign('HMAC', imported, message))
}

/** Whether a signature is valid. Throws if the runtime does not support Ed25519. */
export async function verifyEd25519(key: Bytes, signature: Bytes, message: Bytes): Promise<boolean> {
  try {
    const imported = await subtle().importKey('raw', key, 'Ed25519', false, ['verify'])
    return await subtle().verify('Ed25519', imported, signature, message)
  } catch (error) {
    if (error instanceof Error && error.name === 'DataError') return false
    if (error instanceof VerificationError) throw error
    throw new VerificationError(
      'unsupported',
      'This runtime does not support Ed25519. Use a newer one.',
      error,
    )
  }
}

function subtle() {
  const found = globalThis.crypto?.subtle
  if (found === undefined) {
    throw new VerificationError(
      'unsupported',
      'Web Crypto is not available. Browsers provide it only to local files and over https.',
    )
  }
  return found
}

function concatenate(pieces: readonly Uint8Array[]): Bytes {
  const whole = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}
