import { hash } from 'node:crypto'

/** The source of unguessable values, injected so that tests can control it. */
export interface Randomness {
  /** Version 4. */
  uuid(): string
  /** `length` characters, uniformly from `0-9A-Za-z`. */
  base62(length: number): string
}

export const base62Alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** More than 256 bits, so that a fast hash is enough to store it. */
const tokenLength = 43

/** The secret in a link or a browser's cookie. */
export function createToken(randomness: Randomness): string {
  return randomness.base62(tokenLength)
}

export function hashToken(token: string): string {
  return hash('sha256', token, 'hex')
}
