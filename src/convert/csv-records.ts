import { InvalidLine } from '../domain/ingest.ts'
import { CsvRecordReader } from './csv-record-reader.ts'
import { type CsvRow, type Cut, UnusableFile, UnusableRecord } from './format.ts'

const maxColumns = 2_000
/** How many columns an error lists. */
const maxNamed = 20

interface CsvOptions {
  /** The maximum length of a record. */
  maxLength: number
  /** The most frequent one of the first line if it is undefined. */
  delimiter: string | undefined
  onColumns(columns: readonly string[]): void
}

/** Assembles CSV records (RFC 4180) from lines. The first record names the columns. */
export class CsvRecords {
  readonly #options: CsvOptions
  #reader: CsvRecordReader | null = null
  #columns: readonly string[] | null = null
  /** The lines of a record whose quoted field has not ended. */
  #open: string[] = []
  #openLength = 0
  #openNumber = 0

  constructor(options: CsvOptions) {
    this.#options = options
  }

  *add(line: string | InvalidLine, number: number): Generator<Cut<CsvRow>> {
    if (line instanceof InvalidLine) {
      yield* this.#giveUp()
      if (this.#columns === null) throw new UnusableFile(`its first line is ${line.message}`)
      yield { number, source: line }
      return
    }
    if (this.#open.length === 0) {
      if (line.trim() === '') return
      this.#openNumber = number
    }
    this.#open.push(line)
    this.#openLength += line.length + 1
    const record = this.#read(line)
    if (record !== null) yield* this.#take(record, this.#openNumber)
    else if (this.#openLength > this.#options.maxLength) yield* this.#giveUp()
  }

  *end(): Generator<Cut<CsvRow>> {
    yield* this.#giveUp()
  }

  /** The fields of a record that ends with this line; `null` if it goes on. */
  #read(line: string): string[] | UnusableRecord | null {
    this.#reader ??= new CsvRecordReader(this.#options.delimiter ?? likeliestDelimiter(line))
    return this.#reader.add(line.endsWith('\r') ? line.slice(0, -1) : line, line.endsWith('\r'))
  }

  *#take(record: string[] | UnusableRecord, number: number): Generator<Cut<CsvRow>> {
    this.#open = []
    this.#openLength = 0
    if (this.#columns !== null) yield { number, source: rowOf(this.#columns, record) }
    else if (record instanceof UnusableRecord) throw new UnusableFile(`its first line ${record.message}`)
    else this.#setColumns(record)
  }

  /**
   * A closing quote is probably missing. Each of the other lines is read once more, as a record of its own,
   * so that they are not lost.
   */
  *#giveUp(): Generator<Cut<CsvRow>> {
    const lines = this.#open
    for (const [i, line] of lines.entries()) {
      this.#reader?.reset()
      const unclosed = new UnusableRecord('has a quoted field that never ends, or is too long')
      const record = (i > 0 && this.#read(line)) || unclosed
      yield* this.#take(record, this.#openNumber + i)
    }
    this.#reader?.reset()
  }

  #setColumns(fields: readonly string[]): void {
    const columns = fields.map((name) => name.trim())
    if (columns.length > maxColumns) throw new UnusableFile(`it has more than ${maxColumns} columns`)
    if (new Set(columns).size < columns.length) {
      const repeated = columns.find((name, i) => columns.indexOf(name) !== i) ?? ''
      throw new UnusableFile(`it has two columns named "${shortened(repeated)}"`)
    }
    this.#columns = columns
    this.#options.onColumns(columns)
  }
}

/** Spreadsheets use different delimiters in different countries. */
function likeliestDelimiter(header: string): string {
  const count = (delimiter: string) => header.split(delimiter).length
  return [',', ';', '\t'].reduce((best, each) => (count(each) > count(best) ? each : best))
}

function rowOf(
  columns: readonly string[],
  record: readonly string[] | UnusableRecord,
): Cut<CsvRow>['source'] {
  if (record instanceof UnusableRecord) return record
  if (record.length !== columns.length)
    return new UnusableRecord('has more or fewer fields than the first line')
  const row = new Map<string, string>()
  for (const [i, column] of columns.entries()) row.set(column, record[i] ?? '')
  return row
}

/** Throws `UnusableFile` unless all columns are there. */
export function requireColumns(columns: readonly string[], needed: readonly string[]): void {
  const missing = needed.filter((name) => !columns.includes(name))
  if (missing.length === 0) return
  const found = columns.slice(0, maxNamed).map(shortened)
  if (columns.length > maxNamed) found.push('…')
  const what = missing.length === 1 ? 'has no column' : 'does not have the columns'
  throw new UnusableFile(`it ${what} ${missing.join(', ')}; its columns are ${found.join(', ')}`)
}

function shortened(name: string): string {
  return name.length > 60 ? `${name.slice(0, 60)}…` : name
}
