/** Thrown for text that is not JSON (with a `cause`), or that would not survive being read. */
export class InvalidJson extends Error {
  override name = 'InvalidJson'
}

/** The members of a JSON object, any of which may be missing. */
export type Fields = Partial<Record<string, unknown>>

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Reads JSON that a program wrote. Any other text has no fields. */
export function parseFields(text: string): Fields {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

// Enough to split text that is known to be valid JSON, except strings.
const tokenStart = /["{}[\],:]|[^\s{}[\],:"]+/g

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
  for (const { token, index } of tokensOf(text)) {
    const refuse = (problem: string) => new InvalidJson(`line ${lineOf(text, index)}: ${problem}`)
    if (token === '{') open.push(new Set())
    else if (token === '[') open.push(null)
    else if (token === '}' || token === ']') open.pop()
    else if (token === ':') {
      // Compared as parsed, because a name can be escaped in several ways.
      const name: string = JSON.parse(last)
      if (open.at(-1)?.has(name)) throw refuse(`${excerpt(last)} is repeated`)
      open.at(-1)?.add(name)
    } else {
      last = token
      const number = /^[-\d]/.test(token) ? Number(token) : 0
      if (!Number.isFinite(number)) throw refuse(`the number ${excerpt(token)} is too large`)
      if (/^-?\d+$/.test(token) && !Number.isSafeInteger(number))
        throw refuse(`the integer ${excerpt(token)} is too large to be exact; write it as text`)
    }
  }
  return value
}

/**
 * Which number of a valid text `JSON.parse` would not keep: one beyond its range, or an integer that gets
 * other digits. `value` is the parsed text, or the only member of it that counts. The text is read again only
 * if that has a large number.
 */
export function findLostNumber(text: string, value: unknown, member?: string): string | null {
  if (!mayHaveLargeNumber(value, maxRecursion)) return null
  let depth = 0
  let name = ''
  let last = ''
  for (const { token } of tokensOf(text)) {
    if (token === '{' || token === '[') depth += 1
    else if (token === '}' || token === ']') depth -= 1
    else if (token === ':' && depth === 1) name = JSON.parse(last)
    else last = token
    if (!/^[-\d]/.test(token) || (member !== undefined && name !== member)) continue
    if (!Number.isFinite(Number(token))) return 'a number that is too large'
    if (/^-?\d+$/.test(token) && !keepsDigits(token))
      return 'an integer that is too large to be exact; write it as text'
  }
  return null
}

/** Whether an integer has the digits with which JavaScript writes its value, exponents aside. */
export function keepsDigits(integer: string): boolean {
  const [digits = '', exponent] = Math.abs(Number(integer)).toExponential().split('e+')
  return integer.replace('-', '') === digits.replace('.', '').padEnd(Number(exponent) + 1, '0')
}

const maxRecursion = 200

/** Whether there may be a number that is not exact. Does not look at what is nested too deeply. */
function mayHaveLargeNumber(value: unknown, levels: number): boolean {
  if (typeof value === 'number') return Math.abs(value) > Number.MAX_SAFE_INTEGER
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  for (const each of Array.isArray(value) ? value : Object.values(value))
    if (mayHaveLargeNumber(each, levels - 1)) return true
  return false
}

/** A single pattern for strings would exceed the stack on one of several megabytes. */
function* tokensOf(text: string): Generator<{ token: string; index: number }> {
  const pattern = new RegExp(tokenStart)
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const { 0: found, index } = match
    if (found === '"') pattern.lastIndex = stringEnd(text, index)
    yield { token: text.slice(index, pattern.lastIndex), index }
  }
}

/** The index after the string that starts at `start`. */
function stringEnd(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1)
  while (isEscaped(text, quote)) quote = text.indexOf('"', quote + 1)
  return quote + 1
}

/** Whether an odd number of backslashes precedes. */
function isEscaped(text: string, index: number): boolean {
  let from = index
  while (text[from - 1] === '\\') from -= 1
  return (index - from) % 2 === 1
}

const maxExcerpt = 64

function excerpt(token: string): string {
  return token.length > maxExcerpt ? `${token.slice(0, maxExcerpt)}…` : token
}

function lineOf(text: string, index: number): number {
  return text.slice(0, index).split('\n').length
}
