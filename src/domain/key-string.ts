import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { KeyProof } from './api-key.ts'
import { base62Alphabet, type Randomness } from './randomness.ts'

export const keyIdLength = 16
const secretLength = 32
const checksumLength = 6

/** Matches what looks like a key of ours, for leak scanners as for us. Part of the contract. */
export const keyStringPattern = /^lethe_[0-9A-Za-z]{16}_[0-9A-Za-z]{38}$/

/** Makes a key string `lethe_<id>_<secret><checksum>` for a key id. */
export function createKeyString(id: string, randomness: Randomness): string {
  const body = `lethe_${id}_${randomness.base62(secretLength)}`
  return body + checksum(body)
}

/** The key id a string speaks of; `null` for one that is foreign or damaged, which needs no look-up to be refused. */
export function readKeyId(text: string): string | null {
  if (!keyStringPattern.test(text)) return null
  const body = text.slice(0, -checksumLength)
  if (checksum(body) !== text.slice(-checksumLength)) return null
  return text.slice('lethe_'.length, 'lethe_'.length + keyIdLength)
}

/** What the store may keep of a key string. */
export function proveKeyString(text: string): KeyProof {
  return { hash: hashKeyString(text), lastFour: text.slice(-4) }
}

/** As text: a buffer would take three times as long to make. */
export function hashKeyString(text: string): string {
  return hash('sha256', text, 'hex')
}

/** A client may choose any request id; should it choose its key, neither the log nor the activity keeps it. */
export function withoutKeys(requestId: string): string {
  if (!requestId.includes('lethe_')) return requestId
  return requestId.replaceAll(/lethe_[0-9A-Za-z]{16}_[0-9A-Za-z]+/g, '[key]')
}

/** CRC-32 of the text in base62, padded with zeros on the left. */
function checksum(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let i = 0; i < checksumLength; i++) {
    digits = base62Alphabet.charAt(rest % 62) + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}
