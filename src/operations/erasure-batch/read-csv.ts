/** A record of a CSV file, with the number of the line that it begins on. */
export interface CsvRecord {
  line: number
  fields: string[]
}

const separators = [',', ';', '\t'] as const

/** Whatever stands most often in the first line, as spreadsheets of different countries write it. */
export function separatorOf(text: string): string {
  const [first = ''] = text.split('\n', 1)
  const counts = separators.map((separator) => first.split(separator).length)
  return separators[counts.indexOf(Math.max(...counts))] ?? ','
}

/**
 * Reads CSV (RFC 4180, with either line end), one record after the other. A quoted field may hold separators, line ends and, doubled,
 * quotes; one that is never closed goes to the end. Empty lines are no records.
 */
export function* readCsv(text: string, separator: string): Generator<CsvRecord> {
  let at = 0
  let line = 1
  while (at < text.length) {
    const record: CsvRecord = { line, fields: [] }
    for (;;) {
      const field = readField(text, at, separator)
      record.fields.push(field.value)
      line += field.lineEnds
      at = field.end + 1
      if (text[field.end] !== separator) break
    }
    line += 1
    if (record.fields.length > 1 || record.fields[0] !== '') yield record
  }
}

/** A field from a place on; `end` is where its separator or line end stands. */
function readField(
  text: string,
  start: number,
  separator: string,
): { value: string; end: number; lineEnds: number } {
  if (text[start] !== '"') {
    const end = endFrom(text, start, separator)
    const value = text.slice(start, end)
    return { value: text[end] === separator ? value : value.replace(/\r$/, ''), end, lineEnds: 0 }
  }
  let value = ''
  let from = start + 1
  for (;;) {
    const quote = text.indexOf('"', from)
    if (quote === -1) {
      value += text.slice(from)
      return { value, end: text.length, lineEnds: countLineEnds(value) }
    }
    value += text.slice(from, quote)
    if (text[quote + 1] !== '"') {
      return { value, end: endFrom(text, quote + 1, separator), lineEnds: countLineEnds(value) }
    }
    value += '"'
    from = quote + 2
  }
}

function endFrom(text: string, from: number, separator: string): number {
  for (let at = from; at < text.length; at++) if (text[at] === separator || text[at] === '\n') return at
  return text.length
}

function countLineEnds(text: string): number {
  return text.split('\n').length - 1
}
