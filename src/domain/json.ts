/** Thrown for text that is not JSON (with a `cause`), or that would not survive being read. */
export class InvalidJson extends Error {
  override name = 'InvalidJson'
}

// Enough to split text that is known to be valid JSON.
const tokens = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g

/**
 * Reads JSON. Unlike `JSON.parse`, it refuses what would be lost silently: repeated members of an object, and
 * numbers that JavaScript cannot represent.
 */
export function parseJson(text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    // The message may quote the text, with its line breaks.
    const reason = error instanceof Error ? error.message.replaceAll(/\s+/g, ' ') : ''
    throw new InvalidJson(`it is not valid JSON: ${reason}`, { cause: error })
  }
  /** The members of each open object; `null` for an array. */
  const open: (Set<string> | null)[] = []
  let last = ''
  for (const { 0: token, index } of text.matchAll(tokens)) {
    const refuse = (problem: string) => new InvalidJson(`line ${lineOf(text, index)}: ${problem}`)
    if (token === '{') open.push(new Set())
    else if (token === '[') open.push(null)
    else if (token === '}' || token === ']') open.pop()
    else if (token === ':') {
      // Compared as parsed, because a name can be escaped in several ways.
      const name: string = JSON.parse(last)
      if (open.at(-1)?.has(name)) throw refuse(`${last} is repeated`)
      open.at(-1)?.add(name)
    } else {
      last = token
      const number = /^[-\d]/.test(token) ? Number(token) : 0
      if (!Number.isFinite(number)) throw refuse(`the number ${token} is too large`)
      if (/^-?\d+$/.test(token) && !Number.isSafeInteger(number))
        throw refuse(`the integer ${token} is too large to be exact; write it as text`)
    }
  }
  return value
}

function lineOf(text: string, index: number): number {
  return text.slice(0, index).split('\n').length
}
