import type { Problems } from '../../domain/problems.ts'
import { readCsv, separatorOf } from './read-csv.ts'

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

/** How many lines a batch may have. */
export const maxBatchLines = 10_000

/** The lines of a list that are not empty. A line counts as it stands, spaces and all: ids may have them. */
export function readList({ text, format, column }: GivenList, problems: Problems): ListedLine[] {
  const whole = text.replace(/^\ufeff/, '')
  const listed = format === 'csv' ? readColumn(whole, column, problems) : readLines(whole)
  if (listed.length > maxBatchLines)
    problems.add('text', `text has ${listed.length} lines; a batch takes ${maxBatchLines} at most`)
  if (listed.length === 0 && !problems.has('text', 'column')) problems.add('text', 'text names nobody')
  return listed
}

function readLines(text: string): ListedLine[] {
  return text
    .split('\n')
    .map((value, index) => ({ line: index + 1, value: value.replace(/\r$/, '') }))
    .filter(({ value }) => value.trim() !== '')
}

function readColumn(text: string, column: string | undefined, problems: Problems): ListedLine[] {
  const [header, ...records] = readCsv(text, separatorOf(text))
  const names = header?.fields.map((name) => name.trim()) ?? []
  const index = column === undefined ? -1 : names.indexOf(column)
  if (index === -1) {
    problems.add('column', `column must be one of those that the first line names: ${names.join(', ')}`)
    return []
  }
  return records
    .map(({ line, fields }) => ({ line, value: fields[index] ?? '' }))
    .filter(({ value }) => value.trim() !== '')
}
