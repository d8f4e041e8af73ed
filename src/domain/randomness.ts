import { hash } from 'node:crypto'

/** Where unguessable values come from. Handed in, so that tests can know them. */
export interface Randomness {
  /** A random (version 4) UUID. */
  uuid(): string
  /** `length` characters, each drawn evenly from `0-9A-Za-z`. */
  base62(length: number): string
}

export const base62Alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** 43 of 62 characters are more than 256 bits: nobody guesses them, so a fast hash is enough to keep. */
const tokenLength = 43

/** The secret of a link or of a browser's cookie. */
export function createToken(randomness: Randomness): string {
  return randomness.base62(tokenLength)
}

/** What the store may keep of a token. */
export function hashToken(token: string): string {
  return hash('sha256', token, 'hex')
}
