import { LetheError, type Problems } from '../domain/errors.ts'

/** A list of people as submitted. */
export interface GivenList {
  text: string
  /** Whole lines, or one column of a CSV file with a header. */
  format: 'lines' | 'csv'
  column?: string
}

export interface ListedLine {
  /** From 1. */
  line: number
  value: string
}

/** The lines of a list, each counted once: as a person, as empty, or as part of another line. */
export interface ReadList {
  listed: ListedLine[]
  read: number
  empty: number
  /** The header, and lines that begin inside quotes. */
  other: number
}

export const maxBatchLines = 10_000

const linesPerSlice = 5_000

/** Keeps spaces, which IDs may contain. Throws `validation_error` if the list cannot be read. */
export async function readList(
  { text, format, column }: GivenList,
  problems: Problems,
  pause: () => Promise<void>,
): Promise<ReadList> {
  const list: ReadList = { listed: [], read: 0, empty: 0, other: 0 }
  const whole = text.replace(/^\ufeff/, '')
  refuseNul(whole)
  const lines = format === 'csv' ? readColumn(whole, column, problems) : readLines(whole)
  let untilPause = linesPerSlice
  for (const { line, nextLine, value } of lines) {
    list.read = nextLine - 1
    list.other += nextLine - line - 1
    if (value === null) list.other += 1
    else if (value.trim() === '') list.empty += 1
    else list.listed.push({ line, value })
    if (list.listed.length > maxBatchLines) {
      problems.add('text', `text has more than ${maxBatchLines} lines, the maximum for a list`)
      return list
    }
    untilPause -= 1
    if (untilPause === 0) {
      untilPause = linesPerSlice
      await pause()
    }
  }
  if (list.listed.length === 0 && !problems.has('text', 'column'))
    problems.add('text', 'text contains no lines')
  return list
}

/** A line, or the lines of a CSV record; `null` for the header. */
interface Line {
  line: number
  nextLine: number
  value: string | null
}

/** No ID contains NUL, but a file in UTF-16 does. */
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

/** How many columns an error lists. */
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

/** A CSV record with the number of its first line and of the line after it. */
interface CsvRecord {
  line: number
  nextLine: number
  fields: string[]
}

const separators = [',', ';', '\t'] as const

/** As many fields as a request body may have. */
const maxColumns = 1_000

/** As much as a spreadsheet cell holds. */
const maxFieldLength = 32_767

/** A longer field is probably missing its closing quote, and would contain other people's lines. */
const maxFieldLines = 100

function brokenAt(line: number, why: string): LetheError {
  const message = `text cannot be read: line ${line} ${why}`
  return new LetheError('validation_error', 'Check text: see details.', [{ field: 'text', message }])
}

/**
 * Reads CSV (RFC 4180, any line end) with a header. Uses the separator that yields the most columns. Throws
 * `validation_error` for a malformed record, because a wrong guess would erase the wrong people.
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
      throw brokenAt(line, `has ${has}, but the first line has ${columns}`)
    }
    yield record
  }
}

/** Spreadsheets use different separators in different countries. */
function readHeader(text: string): { header: CsvRecord; separator: string } {
  let best: { header: CsvRecord; separator: string } | null = null
  let failure: unknown
  for (const separator of separators) {
    try {
      const header = new CsvReader(text, separator).next()
      if (header && header.fields.length > (best?.header.fields.length ?? 0)) best = { header, separator }
    } catch (error) {
      // Another separator may work.
      failure ??= error
    }
  }
  if (best !== null && (best.header.fields.length > 1 || failure === undefined)) return best
  throw failure
}

class CsvReader {
  readonly #text: string
  readonly #separator: string
  /** Matches an unquoted field. */
  readonly #plain: RegExp
  #at = 0
  #line = 1

  constructor(text: string, separator: string) {
    this.#text = text
    this.#separator = separator
    this.#plain = new RegExp(`[^${separator}"\\r\\n]*`, 'y')
  }

  /** `null` after the last record. */
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
    // Two quotes stand for one.
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
