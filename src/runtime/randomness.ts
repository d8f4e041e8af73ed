import { randomInt, randomUUID } from 'node:crypto'
import { base62Alphabet, type Randomness } from '../domain/randomness.ts'

export const systemRandomness: Randomness = {
  uuid: () => randomUUID(),
  base62: (length) => Array.from({ length }, () => base62Alphabet.charAt(randomInt(62))).join(''),
}
