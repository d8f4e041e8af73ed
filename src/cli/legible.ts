/** Control characters, and those that turn the direction of text around. Visitors' browsers can send any of them. */
const treacherous = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** Text as a terminal may show it: what would move its cursor or hide something is written out. */
export function legible(text: string): string {
  return text.replaceAll(treacherous, (character) => {
    const code = character.codePointAt(0) ?? 0
    return `\\u${code.toString(16).padStart(4, '0')}`
  })
}
