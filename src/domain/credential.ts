import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { base62Alphabet, type Randomness } from './randomness.ts'

// API keys and variable tokens are strings of one form: `<prefix>_<id>_<secret><checksum>`. The store finds
// them by ID and keeps only a hash.

/** What a credential is for. */
export type CredentialKind = 'key' | 'variable-token'

export const credentialIdLength = 16
const secretLength = 32
const checksumLength = 6

/** What the store keeps of a credential's string. */
export interface CredentialProof {
  /** SHA-256 of the string, in hexadecimal. */
  hash: string
  lastFour: string
}

interface CredentialFormat {
  pattern: RegExp
  create(id: string, randomness: Randomness): string
  /** The ID in a string; `null` if the string is damaged or of another form. */
  readId(text: string): string | null
}

/** A prefix tells people and leak scanners what a string is for. */
export function credentialFormat(prefix: string): CredentialFormat {
  const pattern = new RegExp(
    `^${prefix}_[0-9A-Za-z]{${credentialIdLength}}_[0-9A-Za-z]{${secretLength + checksumLength}}$`,
  )
  const idStart = prefix.length + 1
  return {
    pattern,
    create(id, randomness) {
      const body = `${prefix}_${id}_${randomness.base62(secretLength)}`
      return body + checksum(body)
    },
    readId(text) {
      if (!pattern.test(text)) return null
      const body = text.slice(0, -checksumLength)
      if (checksum(body) !== text.slice(-checksumLength)) return null
      return text.slice(idStart, idStart + credentialIdLength)
    },
  }
}

export function proveCredential(text: string): CredentialProof {
  return { hash: hashCredential(text), lastFour: text.slice(-4) }
}

/** Hashing the text is three times as fast as hashing a buffer of it. */
export function hashCredential(text: string): string {
  return hash('sha256', text, 'hex')
}

/** Removes credentials from a request ID, which the client chooses, before it is logged or stored. */
export function withoutCredentials(requestId: string): string {
  if (!requestId.includes('lethe')) return requestId
  return requestId
    .replaceAll(/lethe_[0-9A-Za-z]{16}_[0-9A-Za-z]+/g, '[key]')
    .replaceAll(/lethevar_[0-9A-Za-z]{16}_[0-9A-Za-z]+/g, '[token]')
}

/** CRC-32 in base62, padded with zeros. */
function checksum(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let i = 0; i < checksumLength; i++) {
    digits = base62Alphabet.charAt(rest % 62) + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}
