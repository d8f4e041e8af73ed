import { type Bytes, decodeBase64 } from './base64.ts'
import { VerificationError } from './verification-error.ts'
import { sha256 } from './web-crypto.ts'

/** A verifier key of the C2SP signed-note, for Ed25519. */
export interface VerifierKey {
  /** The key as given: `name+id+base64`. */
  vkey: string
  name: string
  /** The key ID: 8 hexadecimal digits. */
  id: string
  publicKey: Bytes
}

const ed25519 = 1
const form = /^([^+]*)\+([0-9a-f]{8})\+(.*)$/

export async function parseVerifierKey(vkey: string): Promise<VerifierKey> {
  const [, name = '', id = '', encoded = ''] = form.exec(withoutExtraNewlines(vkey, '')) ?? []
  const typed = decodeBase64(encoded)
  if (!isKeyName(name) || typed === null || typed.length === 0) {
    throw malformed('it is not of the form name+id+base64')
  }
  if (typed[0] !== ed25519 || typed.length !== 33) throw malformed('it is not an Ed25519 key')
  const hash = await sha256(new TextEncoder().encode(`${name}\n`), typed)
  if (hex(hash.subarray(0, 4)) !== id) throw malformed('its ID does not match its name and key')
  return { vkey, name, id, publicKey: typed.slice(1) }
}

/** Replaces the newlines at the end of a text by `end`, because a shell or `jq -r` may add one. */
export function withoutExtraNewlines(text: string, end = '\n'): string {
  let length = text.length
  while (text[length - 1] === '\n') length--
  return length === text.length ? text : text.slice(0, length) + end
}

/** Whether a name is not empty and has neither spaces nor a plus sign. */
export function isKeyName(name: string): boolean {
  return name !== '' && !/[\p{White_Space}+]/u.test(name)
}

export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function malformed(what: string): VerificationError {
  return new VerificationError('malformed_key', `A verifier key is not valid: ${what}.`)
}
