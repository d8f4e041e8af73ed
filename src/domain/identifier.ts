import type { Problems } from './errors.ts'

/** The longest id of a tracker, subject, session or event, in characters (code points). */
export const maxIdentifierLength = 256

/**
 * Matches text without control characters (C0, DEL, C1) that is neither `.` nor `..`, which URL parsers swallow. Written so that
 * engines without lookahead and `\u0000` take it: clients in Go check ids with it too.
 */
export const identifierPattern = '^(?:\\.*[^.\\x00-\\x1f\\x7f-\\x9f][^\\x00-\\x1f\\x7f-\\x9f]*|\\.{3,})$'

/** What an id may be, in words; errors and docs use them. */
export const identifierRule = `1 to ${maxIdentifierLength} characters, no control characters, not "." or ".."`

const identifier = new RegExp(identifierPattern, 'u')

/** Whether `text` can name a tracker, a subject, a session or an event. A lone surrogate is no character, so it cannot. */
export function isIdentifier(text: unknown): text is string {
  return isWellFormedText(text, identifier, maxIdentifierLength)
}

/** Whether `text` is text of at most so many characters that matches a pattern. */
export function isWellFormedText(text: unknown, pattern: RegExp, maxLength: number): text is string {
  if (typeof text !== 'string' || text.length > 2 * maxLength || !pattern.test(text)) return false
  if (!text.isWellFormed()) return false
  // No text has more characters than units, so few need counting.
  return text.length <= maxLength || countCharacters(text) <= maxLength
}

/** The length people mean: an emoji is one character, however JavaScript stores it. */
export function countCharacters(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}

export function checkIdentifier(field: string, text: string, problems: Problems): void {
  if (!isIdentifier(text)) problems.add(field, `${field} must be ${identifierRule}`)
}

/**
 * The smallest text that orders after everything starting with `prefix`, by code points: the end of the prefix's range.
 * `null` when there is no such text.
 */
export function endOfPrefix(prefix: string): string | null {
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0)
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    if (last === 0x10ffff) continue
    // Surrogates are no characters: after U+D7FF comes U+E000.
    return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1)
  }
  return null
}
