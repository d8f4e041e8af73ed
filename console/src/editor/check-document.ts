/** A problem of a document, with its position in the text. */
export interface Problem {
  from: number
  to: number
  line: number
  message: string
}

export interface CheckedDocument {
  /** In the order of the text. Nothing after a syntax error can be read. */
  problems: Problem[]
  /** `null` if there are problems. */
  variables: Record<string, unknown> | null
}

// The limits of the service, which checks every document again.
const maxVariables = 1_000
const maxDepth = 32
const maxValueBytes = 64 * 1024
const maxDocumentBytes = 1024 * 1024
const maxTextLength = 2 * 1024 * 1024
const namePattern = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/

/** Enough to see what is wrong. */
const maxProblems = 100

/** Checks a JSON document of variables as the service does, and reports its problems with their positions. */
export function checkDocument(text: string): CheckedDocument {
  const scanner = new Scanner(text)
  let variables: Record<string, unknown> | null = null
  try {
    scanner.readDocument()
    if (scanner.found.length === 0) {
      variables = JSON.parse(text)
      scanner.checkSizes(variables ?? {})
    }
  } catch (error) {
    if (!(error instanceof Stopped)) throw error
  }
  const problems = withLines(scanner.found, text)
  return { problems, variables: problems.length === 0 ? variables : null }
}

/** Thrown where reading on makes no sense. */
class Stopped extends Error {}

type Found = Omit<Problem, 'line'>

/** Problems in order, with their lines counted in one pass. */
function withLines(found: readonly Found[], text: string): Problem[] {
  let [at, line] = [0, 1]
  return found
    .toSorted((a, b) => a.from - b.from)
    .map((problem) => {
      line += text.slice(at, problem.from).split('\n').length - 1
      at = problem.from
      return { ...problem, line }
    })
}

/** The names of an object, compared as parsed because a name can be escaped in several ways. */
type Names = Map<string, { from: number; to: number }>

class Scanner {
  readonly found: Found[] = []
  readonly #text: string
  #at = 0
  #variables: Names = new Map()

  constructor(text: string) {
    this.#text = text
  }

  readDocument(): void {
    this.#skipSpace()
    if (this.#text[this.#at] !== '{') this.#stop('Variables are a JSON object: start with “{”')
    this.#variables = this.#readObject(0)
    this.#skipSpace()
    if (this.#at < this.#text.length) this.#stop('Nothing may follow the closing “}”')
    for (const [name, { from, to }] of this.#variables) {
      if (!namePattern.test(name))
        this.#report(from, to, 'A name is a letter, then up to 63 letters, digits, “_”, “.” or “-”')
    }
  }

  checkSizes(variables: Record<string, unknown>): void {
    const encoder = new TextEncoder()
    let bytes = 2
    for (const [name, { from, to }] of this.#variables) {
      const size = encoder.encode(JSON.stringify(variables[name])).length
      bytes += name.length + size + 4
      if (size > maxValueBytes) this.#report(from, to, `The value has ${size} bytes, more than 64 KiB`)
    }
    const count = this.#variables.size
    if (count > maxVariables) this.#report(0, 1, `There are ${count} variables, more than ${maxVariables}`)
    if (bytes > maxDocumentBytes)
      this.#report(0, 1, `All variables have ${bytes} bytes together, more than 1 MiB`)
    else if (this.#text.length > maxTextLength)
      this.#report(0, 1, 'The text with its whitespace is longer than 2 MiB')
  }

  #readObject(depth: number): Names {
    const names: Names = new Map()
    this.#readList('}', () => {
      const from = this.#at
      if (this.#text[from] !== '"') this.#stop('A name in double quotes is expected')
      const name: string = JSON.parse(this.#readText())
      if (names.has(name)) this.#report(from, this.#at, `The name “${shorten(name)}” is repeated`)
      else names.set(name, { from, to: this.#at })
      this.#skipSpace()
      if (this.#text[this.#at] !== ':') this.#stop('“:” is expected after a name')
      this.#at += 1
      this.#readValue(depth + 1)
    })
    return names
  }

  /** Reads items and the commas between them, up to the closing bracket. */
  #readList(end: '}' | ']', readItem: () => void): void {
    const from = this.#at
    this.#at += 1
    this.#skipSpace()
    for (let isFirst = true; this.#text[this.#at] !== end; isFirst = false) {
      if (this.#at >= this.#text.length) this.#stop(`“${this.#text[from]}” is never closed`, from)
      if (!isFirst) {
        if (this.#text[this.#at] !== ',') this.#stop(`“,” or “${end}” is expected`)
        const comma = this.#at
        this.#at += 1
        this.#skipSpace()
        if (this.#text[this.#at] === end) this.#stop(`No “,” may precede “${end}”`, comma)
      }
      readItem()
      this.#skipSpace()
    }
    this.#at += 1
  }

  #readValue(depth: number): void {
    this.#skipSpace()
    const first = this.#text[this.#at]
    if (first === '{' || first === '[') {
      // Reading on could exceed the stack.
      if (depth > maxDepth) this.#stop(`A value has at most ${maxDepth} levels`)
      if (first === '{') this.#readObject(depth)
      else this.#readList(']', () => this.#readValue(depth + 1))
    } else if (first === '"') this.#readText()
    else this.#readLiteral()
  }

  #readLiteral(): void {
    const from = this.#at
    const literal = matchAt(/[^\s{}[\],:"]*/y, this.#text, from) ?? ''
    this.#at += literal.length
    if (literal === 'true' || literal === 'false' || literal === 'null') return
    if (literal === '') this.#stop('A value is expected')
    if (!/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(literal))
      this.#stop(`“${shorten(literal)}” is not a JSON value; text is written in double quotes`, from)
    const number = Number(literal)
    if (!Number.isFinite(number)) this.#report(from, this.#at, 'The number is too large')
    else if (/^-?\d+$/.test(literal) && !Number.isSafeInteger(number))
      this.#report(from, this.#at, 'The integer is too large to be exact; write it as text')
  }

  /** Reads a text and returns it with its quotes. */
  #readText(): string {
    const from = this.#at
    this.#at += 1
    for (;;) {
      const char = this.#text[this.#at]
      if (char === '"') break
      if (char === undefined || char === '\n') this.#stop('The text is never closed', from)
      if (char < ' ') this.#stop('Control characters are written as \\t or \\u0009')
      if (char === '\\') {
        const escaped = matchAt(/\\(["\\/bfnrt]|u[0-9a-fA-F]{4})/y, this.#text, this.#at)
        if (escaped === undefined) this.#stop('No such escape: use \\\\ for a backslash')
        this.#at += escaped.length
      } else this.#at += 1
    }
    this.#at += 1
    return this.#text.slice(from, this.#at)
  }

  #skipSpace(): void {
    this.#at += matchAt(/[ \t\r\n]*/y, this.#text, this.#at)?.length ?? 0
  }

  #stop(message: string, from = this.#at): never {
    this.#report(from, Math.min(from + 1, this.#text.length), message)
    throw new Stopped()
  }

  #report(from: number, to: number, message: string): void {
    this.found.push({ from, to, message })
    if (this.found.length === maxProblems) throw new Stopped()
  }
}

/** What a sticky pattern matches at a position; `undefined` if it does not match there. */
function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}

function shorten(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}
