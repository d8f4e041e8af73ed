/** Where unguessable values come from. Handed in, so that tests can know them. */
export interface Randomness {
  /** A random (version 4) UUID. */
  uuid(): string
  /** `length` characters, each drawn evenly from `0-9A-Za-z`. */
  base62(length: number): string
}

export const base62Alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
