import { LetheError, type Problems } from '../domain/errors.ts'

/** A list of people as somebody handed it in. */
export interface GivenList {
  text: string
  /** Whole lines, or one column of a CSV file whose first line names them. */
  format: 'lines' | 'csv'
  /** The name of that column. */
  column?: string
}

/** Whom a line names. */
export interface ListedLine {
  /** From 1. */
  line: number
  value: string
}

/** A list and its lines, each of which is counted once: as one that names somebody, as empty, or as none of a person's own. */
export interface ReadList {
  listed: ListedLine[]
  read: number
  empty: number
  /** The line with the names of the columns, and those that begin inside of quotes. */
  other: number
}

/** How many lines a batch may have. */
export const maxBatchLines = 10_000

/** So many lines are read before other requests get their turn. */
const linesPerTurn = 5_000

/**
 * The lines of a list, read as far as a batch may be long. A line counts as it stands, spaces and all: ids may have them. Throws a
 * `validation_error` for what cannot be read.
 */
export async function readList(
  { text, format, column }: GivenList,
  problems: Problems,
  pause: () => Promise<void>,
): Promise<ReadList> {
  const list: ReadList = { listed: [], read: 0, empty: 0, other: 0 }
  const whole = text.replace(/^\ufeff/, '')
  refuseNul(whole)
  const lines = format === 'csv' ? readColumn(whole, column, problems) : readLines(whole)
  let untilTurn = linesPerTurn
  for (const { line, nextLine, value } of lines) {
    list.read = nextLine - 1
    list.other += nextLine - line - 1
    if (value === null) list.other += 1
    else if (value.trim() === '') list.empty += 1
    else list.listed.push({ line, value })
    if (list.listed.length > maxBatchLines) {
      problems.add('text', `text has more than ${maxBatchLines} lines, which is the most a batch takes`)
      return list
    }
    untilTurn -= 1
    if (untilTurn === 0) {
      untilTurn = linesPerTurn
      await pause()
    }
  }
  if (list.listed.length === 0 && !problems.has('text', 'column')) problems.add('text', 'text names nobody')
  return list
}

/** A line, or the lines of a record; `null` for one that names the columns. */
interface Line {
  line: number
  nextLine: number
  value: string | null
}

/** No id holds NUL. What a file in UTF-16 says is full of them. */
function refuseNul(text: string): void {
  const at = text.indexOf('\0')
  if (at === -1) return
  let line = 1
  for (const { nextLine } of readLines(text.slice(0, at + 1))) line = nextLine - 1
  throw brokenAt(line, 'holds a NUL character; save the file as UTF-8')
}

const lineEnd = /\r\n|\n|\r/

function* readLines(text: string): Generator<Line> {
  const pattern = new RegExp(lineEnd, 'g')
  let line = 1
  for (let start = 0; start < text.length; start = pattern.lastIndex, line += 1) {
    const end = pattern.exec(text)
    yield { line, nextLine: line + 1, value: text.slice(start, end?.index) }
    if (end === null) return
  }
}

function* readColumn(text: string, column: string | undefined, problems: Problems): Generator<Line> {
  let index: number | null = null
  for (const { line, nextLine, fields } of readCsv(text)) {
    if (index !== null) yield { line, nextLine, value: fields[index] ?? '' }
    else {
      index = findColumn(fields, column, problems)
      if (index === null) return
      yield { line, nextLine, value: null }
    }
  }
  if (index === null) findColumn([], column, problems)
}

/** So many columns are named to whoever asks for another one. */
const maxNamed = 20

function findColumn(
  fields: readonly string[],
  column: string | undefined,
  problems: Problems,
): number | null {
  const names = fields.map((name) => name.trim())
  const index = column === undefined ? -1 : names.indexOf(column)
  if (index === -1) {
    const named = names.slice(0, maxNamed).map((name) => name.slice(0, 100))
    if (names.length > maxNamed) named.push('…')
    problems.add('column', `column must be one of the columns in the first line: ${named.join(', ')}`)
  } else if (names.includes(names[index] ?? '', index + 1)) {
    problems.add('column', 'column must be named once in the first line; it is there twice')
  } else return index
  return null
}

/** A record of a CSV file, with the number of the line that it begins on and of the line behind it. */
interface CsvRecord {
  line: number
  nextLine: number
  fields: string[]
}

const separators = [',', ';', '\t'] as const

/** As many as a body may have fields. */
const maxColumns = 1_000

/** As much as a cell of a spreadsheet holds. */
const maxFieldLength = 32_767

/** A field of more lines is one whose closing quote is missing, and what follows is other people. */
const maxFieldLines = 100

/** A list that cannot be read, and why, by the number of a line. */
function brokenAt(line: number, why: string): LetheError {
  const message = `text cannot be read: line ${line} ${why}`
  return new LetheError('validation_error', 'Check text: see details.', [{ field: 'text', message }])
}

/**
 * Reads CSV (RFC 4180, with any line end), one record after the other, the first with the names of the columns. The separator is the one
 * that gives the first record most fields. Throws a `validation_error` where a record is not as it should be: it is better to erase
 * nobody than whoever a broken file seems to name.
 */
function* readCsv(text: string): Generator<CsvRecord> {
  if (text === '') return
  const { header, separator } = readHeader(text)
  yield header
  const reader = new CsvReader(text, separator)
  reader.next()
  const columns = header.fields.length
  for (let record = reader.next(); record !== null; record = reader.next()) {
    const { line, fields } = record
    const isEmpty = fields.length === 1 && fields[0]?.trim() === ''
    if (!isEmpty && fields.length !== columns) {
      const has = fields.length === 1 ? '1 field' : `${fields.length} fields`
      throw brokenAt(line, `has ${has}, and the first line ${columns}`)
    }
    yield record
  }
}

/** The first record by the separator that spreadsheets of some country use, and which one that is. */
function readHeader(text: string): { header: CsvRecord; separator: string } {
  let best: { header: CsvRecord; separator: string } | null = null
  let failure: unknown
  for (const separator of separators) {
    try {
      const header = new CsvReader(text, separator).next()
      if (header && header.fields.length > (best?.header.fields.length ?? 0)) best = { header, separator }
    } catch (error) {
      // With another separator it may be read: one may stand behind a quote.
      failure ??= error
    }
  }
  if (best !== null && (best.header.fields.length > 1 || failure === undefined)) return best
  throw failure
}

class CsvReader {
  readonly #text: string
  readonly #separator: string
  /** What a field without quotes may hold. */
  readonly #plain: RegExp
  #at = 0
  #line = 1

  constructor(text: string, separator: string) {
    this.#text = text
    this.#separator = separator
    this.#plain = new RegExp(`[^${separator}"\\r\\n]*`, 'y')
  }

  /** The next record; `null` behind the last one. */
  next(): CsvRecord | null {
    if (this.#at >= this.#text.length) return null
    const line = this.#line
    const fields: string[] = []
    do {
      if (fields.length === maxColumns) throw brokenAt(line, `has more than ${maxColumns} columns`)
      fields.push(this.#text[this.#at] === '"' ? this.#quotedField() : this.#plainField())
    } while (this.#skip(this.#separator))
    if (!this.#skip('\r\n') && !this.#skip('\n')) this.#skip('\r')
    this.#line += 1
    return { line, nextLine: this.#line, fields }
  }

  #skip(what: string): boolean {
    if (!this.#text.startsWith(what, this.#at)) return false
    this.#at += what.length
    return true
  }

  #plainField(): string {
    this.#plain.lastIndex = this.#at
    const [value = ''] = this.#plain.exec(this.#text) ?? []
    if (value.length > maxFieldLength) throw tooLong(this.#line)
    this.#at += value.length
    if (this.#text[this.#at] === '"') {
      const why = 'has a quote in the middle of a field; put the field in quotes and double the quote'
      throw brokenAt(this.#line, why)
    }
    return value
  }

  #quotedField(): string {
    const line = this.#line
    const parts: string[] = []
    let length = 0
    // Two quotes are one that belongs to the field.
    do {
      const start = this.#at + 1
      const end = this.#text.indexOf('"', start)
      if (end === -1) throw brokenAt(line, 'opens a quoted field that is never closed')
      parts.push(this.#text.slice(start, end))
      this.#at = end + 1
      length += this.#at - start
      if (length > maxFieldLength) throw tooLong(line)
    } while (this.#text[this.#at] === '"')
    const value = parts.join('"')
    const lineEnds = value.match(/\r\n|\n|\r/g)?.length ?? 0
    if (lineEnds >= maxFieldLines) {
      const why = `opens a quoted field of more than ${maxFieldLines} lines; its closing quote may be missing`
      throw brokenAt(line, why)
    }
    this.#line += lineEnds
    if (!['', '\r', '\n', this.#separator].includes(this.#text.charAt(this.#at)))
      throw brokenAt(this.#line, 'has text after a closing quote')
    return value
  }
}

function tooLong(line: number): LetheError {
  return brokenAt(line, `has a field of more than ${maxFieldLength} characters`)
}
