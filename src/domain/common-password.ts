import { hash } from 'node:crypto'
import { commonPasswordDigests } from './common-passwords.ts'

/** A password that is not on the list is taken for one that is once in 28 billion. */
export const digestBytes = 6

/** What is compared. A common password in another case, or with spaces around it, is as easy to guess. */
export function comparablePassword(password: string): string {
  return password.normalize('NFKC').toLowerCase().trim()
}

export function passwordDigest(comparable: string): Buffer {
  return hash('sha256', comparable, 'buffer').subarray(0, digestBytes)
}

/**
 * Whether a password is among the first that anyone would try: listed, a repetition, a sequence, or little
 * more than `words` that belong to the member, such as the address.
 */
export function isCommonPassword(password: string, words: readonly string[]): boolean {
  const text = comparablePassword(password)
  return isRepetition(text) || isSequence(text) || isMostlyOf(text, words) || isListed(text)
}

/** Such as `aaaaaaaaaaaa` and `abcabcabcabc`. */
function isRepetition(text: string): boolean {
  return [1, 2, 3, 4].some(
    (length) => text === text.slice(0, length).repeat(text.length).slice(0, text.length),
  )
}

/** Such as `abcdefghijkl` and `098765432109`. */
function isSequence(text: string): boolean {
  const codes = Array.from(text, (character) => character.codePointAt(0) ?? 0)
  return [1, -1].some((step) =>
    codes.every((code, i) => {
      const before = codes[i - 1]
      return before === undefined || code - before === step || code - before === -9 * step
    }),
  )
}

/** Shorter words are in passwords by chance. */
const minWordLength = 4
const minRestLength = 8

function isMostlyOf(text: string, words: readonly string[]): boolean {
  const compared = words
    .map(comparablePassword)
    .filter(({ length }) => length >= minWordLength)
    // An address, before its parts.
    .toSorted((a, b) => b.length - a.length)
  const rest = compared.reduce((left, word) => left.replaceAll(word, ''), text)
  return rest !== text && rest.length < minRestLength
}

/** Searches the sorted digests by halves. */
function isListed(text: string): boolean {
  const digests = Buffer.from(commonPasswordDigests, 'base64')
  const wanted = passwordDigest(text)
  let [from, to] = [0, digests.length / digestBytes]
  while (from < to) {
    const middle = Math.floor((from + to) / 2)
    const start = middle * digestBytes
    const order = wanted.compare(digests, start, start + digestBytes)
    if (order === 0) return true
    if (order < 0) to = middle
    else from = middle + 1
  }
  return false
}
