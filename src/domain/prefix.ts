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
