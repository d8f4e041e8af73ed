import type { Instant } from '../domain/instant.ts'
import { keepsDigits } from '../domain/json.ts'
import { type CsvMapping, type FieldSource, fieldsOf, readMapping } from './csv-mapping.ts'
import { requireColumns } from './csv-records.ts'
import { presentFields, requiredText, textOf } from './fields.ts'
import {
  type Conversion,
  type CsvFormat,
  type CsvRow,
  type ImportLine,
  UnusableRecord,
  UsageProblem,
} from './format.ts'
import { Sessions } from './sessions.ts'
import { readTime, readUnixTime } from './times.ts'

/** Any CSV file, with a mapping of its columns to the fields of the import format. */
export const csv: CsvFormat = {
  name: 'csv',
  summary: 'any CSV file, with a mapping of its columns (--map)',
  input: 'csv',
  options: ['map', 'delimiter'],
  start({ map }) {
    if (map === undefined) throw new UsageProblem('The format csv needs --map, a file with a mapping.')
    return new CsvConversion(readMapping(map))
  },
}

class CsvConversion implements Conversion<CsvRow> {
  readonly #mapping: CsvMapping
  /** For events if no column contains a session's ID. */
  readonly #sessions = new Sessions()
  readonly #attributes: [string, FieldSource][]
  readonly #properties: [string, FieldSource][]
  readonly #identifiers: [string, FieldSource][]

  constructor(mapping: CsvMapping) {
    this.#mapping = mapping
    this.#attributes = fieldsOf(mapping, 'attributes')
    this.#properties = fieldsOf(mapping, 'properties')
    this.#identifiers = fieldsOf(mapping, 'identifiers')
  }

  begin(columns: readonly string[]): void {
    const used = [...this.#mapping.values()].flatMap((source) => ('column' in source ? [source.column] : []))
    requireColumns(columns, [...new Set(used)])
  }

  convert(row: CsvRow): ImportLine[] {
    const subjectId = this.#text(row, 'subjectId')
    const identifiers = textsOf(row, this.#identifiers)
    const type = this.#text(row, 'type')
    if (type === 'session') {
      const sessionId = this.#text(row, 'sessionId')
      const startedAt = this.#time(row, 'startedAt')
      const endedAt = this.#isEmpty(row, 'endedAt') ? undefined : this.#time(row, 'endedAt')
      const attributes = valuesOf(row, this.#attributes)
      return [{ type, subjectId, sessionId, startedAt, endedAt, attributes, identifiers }]
    }
    if (type !== 'event') throw new UnusableRecord('type is neither session nor event')
    const occurredAt = this.#time(row, 'occurredAt')
    const sessionId = this.#mapping.has('sessionId')
      ? this.#text(row, 'sessionId')
      : this.#sessions.at(subjectId, occurredAt).sessionId
    const eventId = this.#isEmpty(row, 'eventId') ? undefined : this.#text(row, 'eventId')
    const name = this.#text(row, 'name')
    const properties = valuesOf(row, this.#properties)
    return [{ type, subjectId, sessionId, eventId, name, occurredAt, properties, identifiers }]
  }

  #isEmpty(row: CsvRow, field: string): boolean {
    const source = this.#mapping.get(field)
    return source === undefined || ('column' in source && (row.get(source.column) ?? '') === '')
  }

  #text(row: CsvRow, field: string): string {
    const source = this.#mapping.get(field)
    return requiredText(source && readValue(row, { ...source, as: 'text' }, field), field)
  }

  #time(row: CsvRow, field: string): Instant {
    const source = this.#mapping.get(field)
    const value = source && readValue(row, { ...source, as: 'text' }, field)
    const as = source !== undefined && 'column' in source ? source.as : undefined
    if (as === 'seconds') return readUnixTime(value, field, 1_000)
    return as === 'milliseconds' ? readUnixTime(value, field, 1) : readTime(value, field)
  }
}

function valuesOf(row: CsvRow, sources: readonly [string, FieldSource][]) {
  return presentFields(
    Object.fromEntries(sources.map(([field, source]) => [field, readValue(row, source, field)])),
  )
}

function textsOf(row: CsvRow, sources: readonly [string, FieldSource][]) {
  const texts = sources.flatMap(([field, source]) => {
    const text = textOf(readValue(row, source, field))
    return text === undefined ? [] : [[field, text]]
  })
  return texts.length === 0 ? undefined : Object.fromEntries(texts)
}

function readValue(row: CsvRow, source: FieldSource, field: string): unknown {
  if ('value' in source) return source.value
  const text = row.get(source.column) ?? ''
  if (text === '' || source.as === undefined || source.as === 'text') return text
  if (source.as === 'boolean') return booleanOf(text, field)
  if (source.as !== 'number') return new Date(readUnixTime(text, field, unitMs[source.as])).toISOString()
  const number = Number(text)
  if (text.trim() === '' || !Number.isFinite(number)) throw new UnusableRecord(`${field} is not a number`)
  const [, integer] = /^[-+]?(\d+)$/.exec(text.trim()) ?? []
  if (integer !== undefined && !Number.isSafeInteger(number) && !keepsDigits(integer))
    throw new UnusableRecord(`${field} is an integer that is too large to be exact; map it as text`)
  return number
}

const unitMs = { seconds: 1_000, milliseconds: 1 }

function booleanOf(text: string, field: string): boolean {
  const known = /^(?:(true|yes|t|1)|(false|no|f|0))$/i.exec(text)
  if (known === null) throw new UnusableRecord(`${field} is not a boolean`)
  return known[1] !== undefined
}
