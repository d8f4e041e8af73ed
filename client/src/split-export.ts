/** A part of the JSON of an export: the beginning, then the items of its two lists, then the rest. */
type ExportText =
  | { kind: 'record'; text: string }
  | { kind: 'session' | 'event'; text: string }
  | { kind: 'end'; text: string }

const listStart = /"(sessions|events)"\s*:\s*\[$/

/**
 * Splits the JSON of an export while it arrives, keeping at most one item of its lists in memory. `record` is
 * the response up to the first list, closed; `end` is the response with empty lists, valid JSON only if it is
 * complete.
 */
export async function* splitExport(pieces: AsyncIterable<string>): AsyncGenerator<ExportText> {
  let [frame, item] = ['', '']
  let [depth, isInText, isEscaped] = [0, false, false]
  let list: 'session' | 'event' | null = null
  let hasRecord = false
  for await (const piece of pieces) {
    // The start of the text that belongs to the frame or to the item.
    let from = 0
    for (let i = 0; i < piece.length; i++) {
      const code = piece.charCodeAt(i)
      if (isInText) {
        if (isEscaped) isEscaped = false
        else if (code === backslash) isEscaped = true
        else if (code === quote) isInText = false
      } else if (code === quote) isInText = true
      else if (code === openBrace || code === openBracket) {
        depth += 1
        if (list !== null && depth === itemDepth) {
          // Only a comma separates two items.
          from = i
        } else if (code === openBracket && depth === listDepth) {
          const [, name] = listStart.exec(frame.slice(-40) + piece.slice(from, i + 1)) ?? []
          if (name === undefined) continue
          list = name === 'sessions' ? 'session' : 'event'
          frame += piece.slice(from, i + 1)
          from = i + 1
          if (!hasRecord) yield { kind: 'record', text: `${frame}]}}` }
          hasRecord = true
        }
      } else if (code === closeBrace || code === closeBracket) {
        depth -= 1
        if (list === null) continue
        if (depth === listDepth) {
          yield { kind: list, text: item + piece.slice(from, i + 1) }
          item = ''
          from = i + 1
        } else if (depth < listDepth) {
          list = null
          from = i
        }
      }
    }
    if (list === null) frame += piece.slice(from)
    else if (depth >= itemDepth) item += piece.slice(from)
  }
  yield { kind: 'end', text: frame }
}

const [quote, backslash] = [34, 92]
const [openBracket, closeBracket, openBrace, closeBrace] = [91, 93, 123, 125]
/** The nesting: the response, its data, a list, an item. */
const listDepth = 3
const itemDepth = 4
