import type { Problems } from './errors.ts'

/** The maximum length of the ID of a tracker, subject, session or event, in code points. */
export const maxIdentifierLength = 256

/**
 * Excludes control characters (C0, DEL, C1) and `.` and `..`, which URL parsers remove. Needs no lookahead
 * and no `\u0000`, because Go clients use it too.
 */
export const identifierPattern = '^(?:\\.*[^.\\x00-\\x1f\\x7f-\\x9f][^\\x00-\\x1f\\x7f-\\x9f]*|\\.{3,})$'

export const identifierRule = `1 to ${maxIdentifierLength} characters, no control characters, not "." or ".."`

const identifier = new RegExp(identifierPattern, 'u')

/** Whether `text` can be the ID of a tracker, subject, session or event. */
export function isIdentifier(text: unknown): text is string {
  return isWellFormedText(text, identifier, maxIdentifierLength)
}

export function isWellFormedText(text: unknown, pattern: RegExp, maxLength: number): text is string {
  if (typeof text !== 'string' || text.length > 2 * maxLength || !pattern.test(text)) return false
  if (!text.isWellFormed()) return false
  // A string never has more code points than code units.
  return text.length <= maxLength || countCharacters(text) <= maxLength
}

/** Counts code points, so that an emoji is one character. */
export function countCharacters(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}

export function checkIdentifier(field: string, text: string, problems: Problems): void {
  if (!isIdentifier(text)) problems.add(field, `${field} must be ${identifierRule}`)
}

/** The smallest text, by code points, after everything that starts with `prefix`; `null` if there is none. */
export function endOfPrefix(prefix: string): string | null {
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0)
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    if (last === 0x10ffff) continue
    // Skips the surrogates.
    return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1)
  }
  return null
}
