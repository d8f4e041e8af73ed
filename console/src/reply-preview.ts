/** A piece of a reply text as it is shown: plain, or in place of a placeholder. */
interface PreviewPart {
  text: string
  kind: 'plain' | 'filled' | 'unknown'
}

const token = /\{\{|\}\}|\{([^{}\n]{1,64})\}/g

/** A reply text with values for its placeholders. Those without a value stay as they are. */
export function previewOf(text: string, values: ReadonlyMap<string, string>): PreviewPart[] {
  const parts: PreviewPart[] = []
  let end = 0
  for (const match of text.matchAll(token)) {
    const [found, name] = match
    parts.push({ text: text.slice(end, match.index), kind: 'plain' })
    end = match.index + found.length
    const value = name === undefined ? undefined : values.get(name)
    if (name === undefined) parts.push({ text: found.charAt(0), kind: 'plain' })
    else if (value === undefined) parts.push({ text: found, kind: 'unknown' })
    else parts.push({ text: value, kind: 'filled' })
  }
  return [...parts, { text: text.slice(end), kind: 'plain' as const }].filter((part) => part.text !== '')
}
