/** A piece of a text: visible text as it is, or an invisible character as its code point. */
interface TextPiece {
  text: string
  isInvisible: boolean
}

/** Control characters, direction marks, joiners and unassigned code points. */
const formless = '\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\p{Co}\\p{Cn}\\u115f\\u1160\\u3164\\uffa0'
/** Spaces that look like an ordinary one. */
const spaces = '\\u00a0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000'
/** A single space between words is visible; at an end, or next to another, it is not. */
const pieces = new RegExp(`^ +| +$| {2,}|[${formless}${spaces}]`, 'gu')
/** Joiners within an emoji are legitimate. */
const joined = /\p{Extended_Pictographic}\ufe0f?\u200d(?=\p{Extended_Pictographic})/gu

/** A text with its invisible characters made visible: a space as ␣, others as code points such as U+202E. */
export function visiblePieces(text: string): TextPiece[] {
  const kept = new Set(Array.from(text.matchAll(joined), ({ index, 0: found }) => index + found.length - 1))
  const all: TextPiece[] = []
  let at = 0
  for (const { index, 0: found } of text.matchAll(pieces)) {
    if (kept.has(index)) continue
    if (index > at) all.push({ text: text.slice(at, index), isInvisible: false })
    all.push({ text: found.startsWith(' ') ? '␣'.repeat(found.length) : named(found), isInvisible: true })
    at = index + found.length
  }
  if (at < text.length) all.push({ text: text.slice(at), isInvisible: false })
  return all
}

function named(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}

/**
 * Whether the typed text is the one shown. Invisible characters may be left out, typed as they are shown, or
 * pasted; letters may be composed differently.
 */
export function isTyped(typed: string, text: string): boolean {
  const shown = visiblePieces(text)
    .map((piece) => piece.text)
    .join('')
  return typed === text || fold(typed) === fold(shown) || (fold(text) !== '' && fold(typed) === fold(text))
}

function fold(text: string): string {
  return text
    .normalize('NFC')
    .replaceAll(new RegExp(`[${formless}]`, 'gu'), '')
    .replaceAll(new RegExp(`[ ${spaces}]+`, 'gu'), ' ')
    .trim()
}
