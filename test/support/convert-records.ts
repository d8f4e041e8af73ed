import {
  type ConvertSummary,
  emptyConvertSummary,
  RecordConverter,
} from '../../src/convert/convert-records.ts'
import { parseJsonObject } from '../../src/convert/fields.ts'
import { type Format, UnusableRecord } from '../../src/convert/format.ts'
import { defaultMaxLineBytes } from '../../src/domain/split-lines.ts'

export type Fields = Readonly<Record<string, unknown>>

/** The result of a conversion, with the reason for each record that was not used. */
interface Converted {
  lines: string[]
  events: Fields[]
  reasons: (string | null)[]
  summary: ConvertSummary
}

/** Converts texts, one per record, without the command line. */
export function convertTexts(format: Format, texts: readonly string[]): Converted {
  const summary = emptyConvertSummary()
  const lines: string[] = []
  const convert = startOf(format, summary)
  const reasons = texts.map((text) => {
    const before = countsOf(summary)
    convert(text, lines)
    const counted = [...countsOf(summary)].find(([reason, records]) => records !== before.get(reason))
    return counted?.[0] ?? null
  })
  const events = lines.map((line): Fields => JSON.parse(line)).filter(({ type }) => type === 'event')
  return { lines, events, reasons, summary }
}

export function convertRecords(format: Format, ...records: readonly Fields[]): Converted {
  return convertTexts(
    format,
    records.map((record) => JSON.stringify(record)),
  )
}

function countsOf({ reasons }: ConvertSummary): Map<string, number> {
  return new Map([...reasons].map(([reason, { records }]) => [reason, records]))
}

function startOf(format: Format, summary: ConvertSummary): (text: string, output: string[]) => void {
  const limits = { trackerId: undefined, maxLineBytes: defaultMaxLineBytes }
  if (format.input === 'lines') {
    const converter = new RecordConverter(format.start({}), limits, summary)
    return (source, output) => converter.convert({ number: 1, source }, 'test', output)
  }
  if (format.input === 'csv') throw new Error('the records of a CSV file need its header')
  const converter = new RecordConverter(format.start({}), limits, summary)
  return (text, output) => converter.convert({ number: 1, source: objectOf(text) }, 'test', output)
}

function objectOf(text: string): Fields | UnusableRecord {
  try {
    return parseJsonObject(text)
  } catch (error) {
    if (error instanceof UnusableRecord) return error
    throw error
  }
}
