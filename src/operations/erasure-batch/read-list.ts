import type { Problems } from '../../domain/problems.ts'
import { brokenAt, readCsv } from './read-csv.ts'

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
const mostNamed = 20

function findColumn(
  fields: readonly string[],
  column: string | undefined,
  problems: Problems,
): number | null {
  const names = fields.map((name) => name.trim())
  const index = column === undefined ? -1 : names.indexOf(column)
  if (index === -1) {
    const named = names.slice(0, mostNamed).map((name) => name.slice(0, 100))
    if (names.length > mostNamed) named.push('…')
    problems.add('column', `column must be one of those that the first line names: ${named.join(', ')}`)
  } else if (names.includes(names[index] ?? '', index + 1)) {
    problems.add('column', 'column must be named once in the first line; it is there twice')
  } else return index
  return null
}
